// @ts-check
/**
 * The settings card. Edits are staged and written on Save.
 *
 * @module
 */
import { absent, editOf, same } from "./edits.js";
import { createFieldRow } from "./field_row.js";
import { FIELDS } from "./fields.js";
import { GROUPS, say } from "./texts.js";

/** @typedef {import("./edits.js").Draft} Draft */
/** @typedef {import("./texts.js").Language} Language */

/**
 * @param {any} react The host's React.
 * @returns {(props: any) => unknown} A component: `{ scope, secrets, language }`, three stores to subscribe to.
 */
export function createCard(react) {
  const { createElement: h, useId, useState, useSyncExternalStore } = react;
  const FieldRow = createFieldRow(react);
  return Card;

  /** The card. `scope` is the host's store of the namespace, `secrets` says which secrets hold a value. */
  function Card(/** @type {any} */ { scope, secrets, language: languages }) {
    const snapshot = useSyncExternalStore(scope.subscribe, scope.getSnapshot);
    const secretState = useSyncExternalStore(secrets.subscribe, secrets.get);
    /** @type {Language} */
    const language = useSyncExternalStore(languages.subscribe, languages.get);
    const [open, setOpen] = useState(false);
    const [drafts, setDrafts] = useState(
      /** @type {Record<string, Draft>} */ ({}),
    );
    const [refused, setRefused] = useState(/** @type {string[]} */ ([]));
    const [status, setStatus] = useState(
      /** @type {"" | "saving" | "saved" | "incomplete"} */ (""),
    );
    const bodyId = useId();
    if (snapshot.status !== "ready") return null;

    const user = snapshot.user ?? {};
    const edits = FIELDS.flatMap((field) => {
      const draft = drafts[field.key];
      return draft === undefined ? [] : [{ field, edit: editOf(field, draft) }];
    });
    const dirty = edits.length > 0;
    const blocked = !dirty || status === "saving" || !snapshot.writable ||
      edits.some(({ edit }) => "fault" in edit);

    /** @param {string} key @param {Draft} draft */
    const stage = (key, draft) => {
      setStatus("");
      setRefused((/** @type {string[]} */ keys) => keys.filter((each) => each !== key));
      setDrafts((/** @type {Record<string, Draft>} */ now) => {
        const { [key]: _, ...others } = now;
        const field = FIELDS.find((each) => each.key === key);
        if (field === undefined) return now;
        const edit = editOf(field, draft);
        // What is stored already is no edit: typing it back leaves nothing to save.
        const idle = field.secret
          ? "text" in draft && draft.text === ""
          : "unset" in edit
          ? absent(user[key])
          : "set" in edit && same(edit.set, user[key]);
        return idle ? others : { ...others, [key]: draft };
      });
    };

    const save = async () => {
      setStatus("saving");
      /** @type {string[]} */
      const failed = [];
      for (const { field, edit } of edits) {
        if ("set" in edit) await scope.set(field.key, edit.set);
        else await scope.unset(field.key);
        // The host's store doesn't say whether a write was taken; what it holds afterwards does.
        const stored = scope.getSnapshot().user?.[field.key];
        const done = field.secret
          ? secrets.get() === undefined || secrets.get() === ("set" in edit)
          : "set" in edit
          ? same(stored, edit.set)
          : absent(stored);
        if (done) {
          setDrafts((
            /** @type {Record<string, Draft>} */ {
              [field.key]: _,
              ...others
            },
          ) => others);
        } else failed.push(field.key);
      }
      setRefused(failed);
      setStatus(failed.length > 0 ? "incomplete" : "saved");
    };

    const group = (/** @type {string} */ name) =>
      h(
        "fieldset",
        { key: name, className: "assay-group", "data-assay-group": name },
        h("legend", null, GROUPS[name]?.[language]),
        FIELDS.filter((field) => field.group === name).map((field) =>
          h(FieldRow, {
            key: field.key,
            field,
            stored: user[field.key],
            draft: drafts[field.key],
            refused: refused.includes(field.key),
            secretSet: secretState,
            disabled: !snapshot.writable || status === "saving",
            language,
            stage,
          })
        ),
      );

    return h(
      "li",
      {
        className: "assay-card",
        "data-assay-card": open ? "open" : "closed",
        lang: language === "zh" ? "zh-CN" : "en",
      },
      h(
        "button",
        {
          type: "button",
          className: "assay-toggle",
          "data-assay-toggle": "",
          "aria-expanded": open,
          "aria-controls": bodyId,
          "aria-label": `Assay: ${say(open ? "close" : "open", language)}`,
          onClick: () => setOpen(!open),
        },
        h(
          "span",
          null,
          h("span", { className: "assay-name" }, "Assay"),
          h(
            "span",
            { className: "assay-quiet" },
            say("description", language),
          ),
        ),
        dirty &&
          h("span", { className: "assay-mark" }, say("unsaved", language)),
        h(
          "span",
          { "aria-hidden": true, className: "assay-quiet" },
          open ? "▴" : "▾",
        ),
      ),
      open && h(
        "div",
        { id: bodyId, className: "assay-body" },
        h("p", { className: "assay-quiet" }, say("layers", language)),
        !snapshot.writable &&
          h(
            "p",
            { className: "assay-error", role: "status" },
            say("readOnly", language),
          ),
        Object.keys(GROUPS).map(group),
        h(
          "div",
          { className: "assay-footer" },
          h(
            "p",
            {
              role: "status",
              "data-assay-status": status,
              className: status === "incomplete" ? "assay-error" : "assay-quiet",
            },
            status === "" ? "" : say(status, language),
          ),
          h("button", {
            type: "button",
            className: "assay-button",
            "data-assay-discard": "",
            disabled: !dirty || status === "saving",
            onClick: () => {
              setDrafts({});
              setRefused([]);
              setStatus("");
            },
          }, say("discard", language)),
          h("button", {
            type: "button",
            className: "assay-button assay-save",
            "data-assay-save": "",
            disabled: blocked,
            onClick: save,
          }, say("save", language)),
        ),
      ),
    );
  }
}
