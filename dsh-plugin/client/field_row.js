// @ts-check
/**
 * One setting: its name, its marks, its control, and what it means or what is wrong with it.
 *
 * @module
 */
import { absent, asText, editOf, faultOf } from "./edits.js";
import { say } from "./texts.js";

/** @typedef {import("./edits.js").Field} Field */
/** @typedef {import("./texts.js").Language} Language */

/**
 * @param {any} react The host's React.
 * @returns {(props: any) => unknown} A component: `{ field, stored, draft, refused, secretSet, disabled, language, stage }`.
 */
export function createFieldRow({ createElement: h, useId }) {
  return FieldRow;

  /** One setting: its name, its marks, its control, and what it means or what is wrong with it. */
  function FieldRow(
    /** @type {any} */ {
      field,
      stored,
      draft,
      refused,
      secretSet,
      disabled,
      language,
      stage,
    },
  ) {
    const id = useId();
    const edit = draft === undefined ? null : editOf(field, draft);
    const overridden = field.secret
      ? edit === null ? secretSet === true : "set" in edit
      : edit === null
      ? !absent(stored)
      : !("unset" in edit);
    /** @type {import("./edits.js").Fault | null} */
    const fault = edit !== null && "fault" in edit
      ? edit.fault
      : refused
      ? { name: "refused" }
      : edit === null && !absent(stored)
      ? faultOf(field, stored)
      : null;
    const value = draft === undefined
      ? stored
      : "unset" in draft
      ? undefined
      : "flag" in draft
      ? draft.flag
      : draft.text;
    const control = {
      id,
      disabled,
      "data-assay-input": "",
      "aria-describedby": `${id}-help`,
      ...(fault === null ? {} : { "aria-invalid": true }),
    };
    const type = (/** @type {any} */ event) => stage(field.key, { text: event.target.value });
    const title = field.title[language];
    const small = (
      /** @type {string} */ name,
      /** @type {keyof typeof import("./texts.js").TEXTS} */ text,
      /** @type {keyof typeof import("./texts.js").TEXTS} */ label,
    ) =>
      h("button", {
        type: "button",
        className: "assay-link",
        disabled,
        "aria-label": say(label, language, { title }),
        [`data-assay-${name}`]: "",
        onClick: () => stage(field.key, { unset: true }),
      }, say(text, language));
    const mark = (
      /** @type {keyof typeof import("./texts.js").TEXTS} */ name,
    ) => h("span", { className: "assay-mark" }, say(name, language));
    const isCheck = field.type === "boolean";
    return h(
      "div",
      {
        className: "assay-field",
        "data-assay-field": field.key,
        "data-assay-overridden": String(overridden),
      },
      h(
        "div",
        { className: "assay-line" },
        isCheck && h("input", {
          ...control,
          type: "checkbox",
          className: "assay-check",
          checked: typeof value === "boolean" ? value : field.default === true,
          onChange: (/** @type {any} */ event) => stage(field.key, { flag: event.target.checked }),
        }),
        h("label", { htmlFor: id }, title),
        field.secret && h(
          "span",
          {
            "data-assay-secret": secretSet === undefined ? "unknown" : secretSet ? "set" : "unset",
          },
          draft !== undefined && "unset" in draft
            ? mark("cleared")
            : secretSet === undefined
            ? null
            : mark(secretSet ? "set" : "notSet"),
        ),
        field.secret && secretSet !== false &&
          small("clear", "clear", "clearLabel"),
        !field.secret && overridden && mark("overridden"),
        !field.secret && overridden && small("reset", "reset", "resetLabel"),
      ),
      !isCheck && h(
        controlTag(field),
        {
          ...control,
          ...controlProps(field, language, secretSet),
          className: "assay-input",
          value: field.secret ? (draft !== undefined && "text" in draft ? draft.text : "") : asText(value),
          onChange: type,
        },
        ...options(field, language).map(({ value, text }) => h("option", { key: value, value }, text)),
      ),
      h(
        "p",
        fault === null ? { id: `${id}-help`, className: "assay-quiet" } : {
          id: `${id}-help`,
          className: "assay-error",
          role: "alert",
          "data-assay-error": "",
        },
        fault === null ? helpOf(field, language) : say(fault.name, language, fault.values),
      ),
    );
  }
}

/** @param {Field} field @returns {string} */
const controlTag = (field) =>
  field.enum !== undefined ? "select" : field.type === "json" || field.long === true ? "textarea" : "input";

/** @param {Field} field @param {Language} language @param {boolean | undefined} secretSet @returns {Record<string, unknown>} */
function controlProps(field, language, secretSet) {
  if (field.enum !== undefined) return {};
  if (field.secret) {
    return {
      type: "password",
      autoComplete: "off",
      placeholder: secretSet === true ? say("replace", language) : "",
    };
  }
  const placeholder = field.default === null ? "" : asText(field.default);
  if (controlTag(field) === "textarea") {
    return { rows: 2, spellCheck: false, placeholder };
  }
  if (field.format === "url") return { type: "url", spellCheck: false, placeholder };
  // A number input keeps what isn't a number to itself, so that it could be neither shown as wrong nor saved as typed.
  const keypad = field.type === "integer" ? "numeric" : field.type === "number" ? "decimal" : undefined;
  return { type: "text", spellCheck: false, placeholder, inputMode: keypad };
}

/** @param {Field} field @param {Language} language @returns {{ value: string, text: string }[]} Of a choice; the empty one is "not set". */
function options(field, language) {
  if (field.enum === undefined) return [];
  const unset = field.default === null
    ? say("serverDefault", language)
    : say("standard", language, { value: field.default });
  return [
    { value: "", text: unset },
    ...field.enum.map((value) => ({ value, text: value })),
  ];
}

/** @param {Field} field @param {Language} language @returns {string} */
function helpOf(field, language) {
  const { help, minimum, maximum } = field;
  return minimum === undefined
    ? help[language]
    : `${help[language]} (${say("range", language, { minimum, maximum })})`;
}
