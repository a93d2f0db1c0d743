// @ts-check
/**
 * `verifier_status`: whether there is a verifier, what it is, and what this plugin is set to. A server that can't be
 * reached is a result here and no error, as telling so is what this tool is for.
 *
 * @module
 */
import { fieldsOf } from "../config/fields.js";
import { toVerifierError } from "../server/errors.js";
import { VERSION } from "../version.js";
import { adviceFor } from "./advice.js";
import { project } from "./output.js";
import { dollars, list, oneLine, usageText } from "./render.js";
import { server } from "./status_spec.js";

/** A status that takes longer is no use to anyone. */
const PATIENCE_MS = 15_000;

/** @typedef {import("./parameters.js").Arguments} Arguments */
/** @typedef {import("./register.js").Execution} Execution */
/** @typedef {import("./register.js").Deps} Deps */

/** @param {Arguments} _args @param {Execution} exec @param {Deps} deps @returns {Promise<unknown>} */
export async function run(_args, exec, deps) {
  const values = deps.settings.get();
  const found = await ask(exec, deps);
  const gate = deps.gate?.() ?? null;
  const autostart = deps.autostart?.state() ??
    { state: "idle", detail: null };
  return {
    ...found,
    statement: found.code === null
      ? `The verifier answers at ${values["url"]}.`
      : `The verifier can't be used${
        found.reachable ? `, though something answers at ${values["url"]}` : ""
      }: ${oneLine(found.detail, 1000)}`,
    url: values["url"],
    pluginVersion: VERSION,
    settings: settingsOf(deps.settings, gate),
    gate: gate === null ? null : gateOf(gate),
    problems: [
      ...new Set([...deps.settings.problems(), ...(gate?.problems() ?? []), ...(deps.problems ?? [])]),
    ],
    autostart: { enabled: values["autostart"] === true, ...autostart },
    workingDirectory: exec.agent?.session?.header?.cwd ?? null,
  };
}

/** Of the completed call. @param {any} value @returns {string} */
export function headline(value) {
  return value.statement;
}

/** @param {Arguments} _args @param {any} value @returns {string} */
export function render(_args, value) {
  return [
    value.statement,
    ...(value.server === null ? [] : serverLines(value.server)),
    `Plugin dsh-assay ${value.pluginVersion}; autostart ${value.autostart.enabled ? "on" : "off"}${
      value.autostart.state === "idle" ? "" : ` (${value.autostart.state})`
    }; working directory ${value.workingDirectory ?? "none"}.`,
    gateLine(value),
    "Settings that aren't defaults:",
    ...settingLines(value.settings),
    ...list(value.problems, (/** @type {string} */ problem) => `Problem: ${oneLine(problem)}`, 10),
  ].join("\n");
}

/**
 * @param {import("./register.js").Execution} exec @param {import("./register.js").Deps} deps
 * @returns {Promise<{ reachable: boolean, code: string | null, detail: string | null, server: unknown }>}
 * @throws {import("../server/errors.js").VerifierError} only `aborted`
 */
async function ask(exec, deps) {
  try {
    const { value } = await deps.connection.get("/v1/status", {
      signal: exec.signal,
      timeoutMs: PATIENCE_MS,
    });
    return {
      reachable: true,
      code: null,
      detail: null,
      server: project(server, value),
    };
  } catch (error) {
    const known = toVerifierError(error);
    if (known.code === "aborted") throw known;
    // Whoever reads this needn't be sent here.
    const advice = deps.autostart?.state().state === "failed" ? null : adviceFor(known, deps);
    // A server that refuses us, or speaks another language, is there all the same.
    return {
      reachable: known.status !== null || known.code === "bad_answer",
      code: known.code,
      detail: advice === null ? known.message : `${known.message} ${advice}`,
      server: null,
    };
  }
}

/**
 * Every setting with the layer it is from; a secret only says whether it is set. What only the gate has goes by its name
 * among the user's settings, as `criteria` there and here are two.
 *
 * @param {Deps["settings"]} tools @param {Deps["settings"] | null} gate
 */
function settingsOf(tools, gate) {
  return [
    ...fieldsOf("tools").map((field) => settingOf(field, field.name, tools)),
    ...(gate === null
      ? []
      : fieldsOf("gate").filter(({ row }) => row === "gate").map((field) =>
        settingOf(field, field.settings ?? field.name, gate)
      )),
  ];
}

/** @param {import("../config/fields.js").Field} field @param {string} shownAs @param {Deps["settings"]} settings */
function settingOf({ name, secret }, shownAs, settings) {
  const value = settings.get()[name] ?? null;
  return {
    name: shownAs,
    value: secret === true && value !== null ? "(set, not shown)" : value,
    source: settings.source(name),
  };
}

/** Whether the ends of turns are judged, and how. @param {Deps["settings"]} settings */
function gateOf(settings) {
  const { enabled, mode, threshold } = settings.get();
  return { on: enabled === true || mode !== "manual", mode, threshold };
}

/** @param {any} value @returns {string} */
function gateLine({ gate, server, settings }) {
  if (gate === null) return "Gate: this host has none.";
  const { on, mode, threshold } = gate;
  const chosen = settings.find((/** @type {any} */ { name }) => name === "judge")?.value ?? null;
  const judge = server?.judges.find((/** @type {any} */ { name, isDefault }) =>
    chosen === null ? isDefault : name === chosen
  );
  const caution = on && judge?.kind === "evidence"
    ? ` Its judge is ${
      oneLine(judge.name, 80)
    }, whose rules let practically everything pass: a model on the server is needed.`
    : "";
  return `Gate: ${on ? `on, threshold ${threshold}` : "off"}; automatic reviews: ${mode}.${caution}`;
}

/** @param {readonly any[]} settings @returns {string[]} */
function settingLines(settings) {
  const changed = settings.filter(({ source }) => source !== "default");
  if (changed.length === 0) return ["- none"];
  return list(
    changed,
    ({ name, value, source }) =>
      `${name}: ${oneLine(typeof value === "string" ? value : JSON.stringify(value))} (${source})`,
  );
}

/** @param {any} server @returns {string[]} */
function serverLines(
  {
    runtime,
    coreVersion,
    promptVersion,
    judges,
    store,
    usage,
    requests,
    budget,
  },
) {
  return [
    `Server: ${oneLine(runtime.name, 40)} ${oneLine(runtime.version ?? "", 40)}, core ${
      oneLine(coreVersion, 40)
    }, prompts ${oneLine(promptVersion, 40)}; store ${oneLine(store.kind, 40)} ${
      store.healthy ? "healthy" : `NOT healthy: ${oneLine(store.detail ?? "")}`
    }.`,
    "Judges:",
    ...list(judges, judgeLine),
    budgetLine(budget),
    `Since its start: ${requests.finished} requests, ${requests.failed} failed; ${usageText(usage)}.`,
  ];
}

/** @param {any} judge @returns {string} */
function judgeLine({ name, kind, model, host, hasKey, isDefault, learnt }) {
  const rules = kind === "evidence" ? "rules, no model" : `${oneLine(model, 80)}, ${kind}`;
  const where = host === null ? "" : ` at ${oneLine(host, 80)}${hasKey ? "" : ", no key"}`;
  const known = Object.keys(learnt ?? {}).length === 0
    ? ""
    : `; learnt ${oneLine(JSON.stringify(learnt), 120)}`;
  return `${oneLine(name, 80)}${isDefault ? " (default)" : ""}: ${rules}${where}${known}`;
}

/** @param {any} budget @returns {string} */
function budgetLine(budget) {
  if (budget === null) return "Budget: no daily limit.";
  const { limits, spent, held, resetsAt } = budget;
  const left = ["calls", "tokens", "usd"].flatMap((unit) => {
    if (limits[unit] === null) return [];
    const rest = Math.max(0, limits[unit] - spent[unit] - held[unit]);
    return [unit === "usd" ? dollars(rest) : `${rest} ${unit}`];
  });
  return `Budget left today: ${left.length === 0 ? "no limit" : left.join(", ")}; resets ${resetsAt}.`;
}
