// Made by scripts/build_client.js from client/ and lib/config/fields.js; never edited.
// deno-fmt-ignore-file
// deno-lint-ignore-file
// @ts-nocheck
window.__ModuleLoader__.load({ id: "dsh-assay", factory: (require) => {
const FIELDS = [
{"key":"url","type":"string","format":"url","default":"http://127.0.0.1:8787","group":"server","title":{"en":"Server address","zh":"服务器地址"},"help":{"en":"Where the Assay server answers: http or https, without user name and password.","zh":"Assay 服务器的地址：http 或 https，不含用户名和密码。"}},
{"key":"token","type":"string","format":"token","secret":true,"default":null,"group":"server","title":{"en":"Token","zh":"令牌"},"help":{"en":"Sent as a bearer token to the server's own origin and nowhere else. Leave it empty when the server asks for none.","zh":"作为 Bearer 令牌只发送给该服务器本身。服务器不要求令牌时留空。"}},
{"key":"timeoutMs","type":"integer","minimum":1000,"maximum":3600000,"default":600000,"group":"server","title":{"en":"Deadline of a tool call (ms)","zh":"单次工具调用的时限（毫秒）"},"help":{"en":"The longest a verifier tool may take, everything included.","zh":"一次验证工具调用的最长总时间。"}},
{"key":"autostart","type":"boolean","default":false,"group":"server","title":{"en":"Start a local server when none answers","zh":"无人应答时启动本地服务器"},"help":{"en":"Only for an address on this machine. The server ends together with DSH. The first start may fetch Deno through npx.","zh":"仅适用于本机地址。服务器随 DSH 一同结束。首次启动时可能通过 npx 下载 Deno。"}},
{"key":"serverDirectory","type":"string","default":null,"group":"server","title":{"en":"Server's folder","zh":"服务器目录"},"help":{"en":"Folder of the Assay server to start. Empty: the one that came with this package, or the checkout it stands in.","zh":"要启动的 Assay 服务器所在目录。留空则使用随本包附带的服务器或其所在的源码目录。"}},
{"key":"judge","type":"json","accepts":["string","object","array"],"default":null,"group":"evidence","title":{"en":"Judge","zh":"评审模型"},"help":{"en":"Name of a judge in the server's configuration, or JSON: one judge with its options, or an array of up to 5. Empty: the server's default.","zh":"服务器配置中的评审名称，或 JSON：带选项的单个评审，或最多 5 个的数组。留空则使用服务器默认值。"}},
{"key":"channel","type":"string","enum":["any","logprobs","continuation"],"default":null,"group":"evidence","title":{"en":"Least accepted channel","zh":"最低可接受通道"},"help":{"en":"The least way of reading the judge's letters that is accepted: any; continuation (probabilities, also those of one constrained token); logprobs (probabilities of the answer itself). Less is an error. Empty: the server's default.","zh":"可接受的最低读取方式：any（任意）；continuation（有概率，也可来自一个受约束的词元）；logprobs（答案本身的概率）。达不到即报错。留空则使用服务器默认值。"}},
{"key":"criteria","type":"json","accepts":["string","object","array"],"default":"general","group":"evidence","title":{"en":"Rubric","zh":"评分标准"},"help":{"en":"Name of a built-in rubric, path of a file, Markdown, or JSON.","zh":"内置评分标准的名称、文件路径、Markdown 或 JSON。"}},
{"key":"repeats","type":"integer","minimum":1,"maximum":64,"default":null,"group":"evidence","title":{"en":"Repeats","zh":"重复次数"},"help":{"en":"Judged calls for every pair and criterion. Empty: the server's default.","zh":"每一对、每条标准的评审次数。留空则使用服务器默认值。"}},
{"key":"sendImages","type":"boolean","default":true,"group":"evidence","title":{"en":"Show images to the judge","zh":"向评审发送图片"},"help":{"en":"Pictures of the user's messages go along.","zh":"用户消息中的图片会一并发送。"}},
{"key":"maxCharacters","type":"integer","minimum":1000,"maximum":10000000,"default":200000,"group":"evidence","title":{"en":"Characters of session evidence","zh":"会话证据的字符数"},"help":{"en":"Above this many characters the oldest steps of a session are shortened; the answer says how many.","zh":"超过此字符数时缩短会话中最早的步骤；结果会说明缩短了多少。"}},
{"key":"redact","type":"json","accepts":["strings"],"default":[],"group":"evidence","title":{"en":"Patterns to take out","zh":"需移除的模式"},"help":{"en":"JSON array of regular expressions. What they match is taken out before anything is judged or stored; known kinds of secrets always are. Only verifier_best_of_n uses its prompt as it is.","zh":"正则表达式的 JSON 数组。匹配内容在评审或存储之前移除；已知类型的密钥始终会被移除。只有 verifier_best_of_n 原样使用其提示。"}},
{"key":"gateEnabled","type":"boolean","default":false,"group":"gate","title":{"en":"Judge the work when a turn ends","zh":"在回合结束时评审"},"help":{"en":"Work below the threshold is sent back once with what is missing. When the verifier can't decide, the turn ends as it would without it.","zh":"低于阈值的工作会连同不足之处退回。验证器无法判断时，回合照常结束。"}},
{"key":"gateThreshold","type":"number","minimum":0,"maximum":1,"default":0.6,"group":"gate","title":{"en":"Threshold","zh":"阈值"},"help":{"en":"Work with a score below it is sent back.","zh":"得分低于该值的工作会被退回。"}},
{"key":"gateMaxGatesPerTurn","type":"integer","minimum":1,"maximum":20,"default":1,"group":"gate","title":{"en":"Most returns in a turn","zh":"每回合最多退回次数"},"help":{"en":"After this many the turn ends whatever the score.","zh":"达到次数后，无论得分如何回合都会结束。"}},
{"key":"gateEvaluations","type":"integer","minimum":1,"maximum":64,"default":1,"group":"gate","title":{"en":"Evaluations","zh":"评审次数"},"help":{"en":"Judged calls for every criterion of the gate.","zh":"门控中每条标准的评审次数。"}},
{"key":"gateCriteria","type":"json","accepts":["string","object","array"],"default":null,"group":"gate","title":{"en":"Gate's rubric","zh":"门控的评分标准"},"help":{"en":"As the rubric above, for the gate alone. Empty: the rubric above.","zh":"同上方的评分标准，但仅用于门控。留空则使用上方的评分标准。"}},
{"key":"gateProblem","type":"string","default":null,"group":"gate","title":{"en":"Task","zh":"任务"},"help":{"en":"What the work is judged against. Empty: what the user asked for in the session.","zh":"评审所依据的任务。留空则使用用户在会话中提出的任务。"},"long":true},
{"key":"gateSteerText","type":"string","default":null,"group":"gate","title":{"en":"Opening of the return message","zh":"退回消息的开头"},"help":{"en":"Stands above the score and the failing criteria. Empty: a built-in text.","zh":"位于得分和未通过标准之前的文字。留空则使用内置文本。"},"long":true},
{"key":"gateIncludeSubagents","type":"boolean","default":false,"group":"gate","title":{"en":"Subagents too","zh":"包括子代理"},"help":{"en":"Judge the turns of delegated agents as well.","zh":"同时评审被委派代理的回合。"}},
{"key":"gateTotalMs","type":"integer","minimum":1000,"maximum":3600000,"default":120000,"group":"gate","title":{"en":"Longest wait at a turn's end (ms)","zh":"回合结束时的最长等待（毫秒）"},"help":{"en":"Everything the gate and the automatic reviews do in a turn has to fit in; then the turn ends.","zh":"门控和自动评审在一个回合内的全部操作须在此时间内完成，否则回合直接结束。"}},
{"key":"gateMode","type":"string","enum":["manual","smart","strict"],"default":"manual","group":"routing","title":{"en":"Automatic reviews","zh":"自动评审"},"help":{"en":"manual: none. smart: candidates, todo lists, plans and larger turns are judged. strict: every turn in which something was done.","zh":"manual：不进行。smart：评审候选、待办列表、计划和较大的回合。strict：评审每个做了事的回合。"}},
{"key":"gateMinToolCalls","type":"integer","minimum":0,"maximum":1000,"default":3,"group":"routing","title":{"en":"Least tool calls","zh":"最少工具调用数"},"help":{"en":"A turn with fewer tool calls is too small for an automatic review.","zh":"工具调用少于此数的回合不进行自动评审。"}},
{"key":"gateReviewPlans","type":"boolean","default":true,"group":"routing","title":{"en":"Review plans","zh":"评审计划"},"help":{"en":"With smart or strict: a plan is judged before it is followed.","zh":"在 smart 或 strict 下：计划执行前先评审。"}},
{"key":"gateReviewTeamTasks","type":"boolean","default":true,"group":"routing","title":{"en":"Review team tasks","zh":"评审团队任务"},"help":{"en":"With smart or strict: what delegated agents report is judged.","zh":"在 smart 或 strict 下：评审被委派代理的汇报。"}},
{"key":"gateCallsPerTask","type":"integer","minimum":0,"maximum":100000,"default":96,"group":"routing","title":{"en":"Judged calls per task","zh":"每个任务的评审调用数"},"help":{"en":"No more are bought for one task.","zh":"单个任务不会购买更多调用。"}},
{"key":"gateCallsPerSession","type":"integer","minimum":0,"maximum":100000,"default":240,"group":"routing","title":{"en":"Judged calls per session","zh":"每个会话的评审调用数"},"help":{"en":"No more are bought for one session.","zh":"单个会话不会购买更多调用。"}},
{"key":"gateReviewsPerTask","type":"integer","minimum":0,"maximum":1000,"default":2,"group":"routing","title":{"en":"Automatic reviews per task","zh":"每个任务的自动评审次数"},"help":{"en":"The gate has its own limit.","zh":"门控有其单独的上限。"}},
{"key":"gateReviewsPerSession","type":"integer","minimum":0,"maximum":1000,"default":8,"group":"routing","title":{"en":"Automatic reviews per session","zh":"每个会话的自动评审次数"},"help":{"en":"The gate has its own limit.","zh":"门控有其单独的上限。"}}
];

/**
 * What the settings card says, in the host's two languages.
 *
 * @module
 */

/** @typedef {"en" | "zh"} Language */

/** @type {Record<string, Record<Language, string>>} */
const GROUPS = {
  server: { en: "Server", zh: "服务器" },
  evidence: { en: "Judging and evidence", zh: "评审与证据" },
  gate: { en: "Gate at the turn's end", zh: "回合结束时的门控" },
  routing: { en: "Automatic reviews", zh: "自动评审" },
};

const TEXTS = {
  description: {
    en: "Verifier tools, the gate at a turn's end, and automatic reviews.",
    zh: "验证工具、回合结束时的门控以及自动评审。",
  },
  layers: {
    en:
      "A value in a composition row or a preset wins over these settings and can't be seen here. What isn't set here comes from the environment, then from the default.",
    zh:
      "组合文件的行或预设中的值优先于此处的设置，且不会在此显示。此处未设置的项取自环境变量，其次为默认值。",
  },
  open: { en: "Show settings", zh: "展开设置" },
  close: { en: "Hide settings", zh: "收起设置" },
  unsaved: { en: "Unsaved", zh: "未保存" },
  overridden: { en: "Changed", zh: "已修改" },
  reset: { en: "Reset", zh: "重置" },
  resetLabel: { en: "Reset: {title}", zh: "重置：{title}" },
  clear: { en: "Clear", zh: "清除" },
  clearLabel: { en: "Clear: {title}", zh: "清除：{title}" },
  cleared: { en: "Cleared on save", zh: "保存时清除" },
  set: { en: "Set", zh: "已设置" },
  notSet: { en: "Not set", zh: "未设置" },
  replace: { en: "Type to replace", zh: "输入以替换" },
  save: { en: "Save", zh: "保存" },
  saving: { en: "Saving…", zh: "正在保存…" },
  saved: { en: "Saved.", zh: "已保存。" },
  discard: { en: "Discard", zh: "放弃" },
  readOnly: {
    en: "The settings file can't be written.",
    zh: "设置文件不可写入。",
  },
  refused: {
    en: "The host did not store this value.",
    zh: "主机未保存该值。",
  },
  incomplete: { en: "Some values were not saved.", zh: "部分值未保存。" },
  serverDefault: { en: "(the server's default)", zh: "（服务器默认值）" },
  standard: { en: "Default: {value}", zh: "默认值：{value}" },
  range: { en: "{minimum} to {maximum}", zh: "{minimum} 到 {maximum}" },
  mustBeNumber: {
    en: "Must be a number from {minimum} to {maximum}.",
    zh: "必须是 {minimum} 到 {maximum} 之间的数字。",
  },
  mustBeWhole: {
    en: "Must be a whole number from {minimum} to {maximum}.",
    zh: "必须是 {minimum} 到 {maximum} 之间的整数。",
  },
  mustBeUrl: {
    en: "Must be an http or https address without user name, password, query and fragment.",
    zh: "必须是 http 或 https 地址，不含用户名、密码、查询和片段。",
  },
  mustBeToken: {
    en: "Must be visible ASCII characters without spaces.",
    zh: "必须是不含空格的可见 ASCII 字符。",
  },
  mustBeStrings: {
    en: 'Must be a JSON array of texts, none of them empty, such as ["customer-\\\\d+"].',
    zh: '必须是由非空文本组成的 JSON 数组，例如 ["customer-\\\\d+"]。',
  },
  mustBeJson: {
    en: "Looks like JSON, but can't be read as such.",
    zh: "看似 JSON，但无法解析。",
  },
  mustBe: {
    en: "The stored value doesn't fit: {value}",
    zh: "已保存的值不符合要求：{value}",
  },
};

/** @param {keyof typeof TEXTS} name @param {Language} language @param {Record<string, unknown>} [values] @returns {string} */
const say = (name, language, values = {}) =>
  TEXTS[name][language].replace(
    /\{(\w+)\}/g,
    (whole, key) => key in values ? String(values[key]) : whole,
  );

/**
 * The card's look, in the host's own colours, which follow its light and dark themes.
 *
 * @module
 */

const STYLE = `
.assay-card{list-style:none;border:1px solid var(--dsw-alias-border-l2);border-radius:12px;background:var(--dsw-alias-bg-layer-3);color:var(--dsw-alias-label-primary);font-size:13px;line-height:1.5}
.assay-card button{font:inherit;cursor:pointer}
.assay-card button:disabled{cursor:default;opacity:.45}
.assay-card :is(button,input,select,textarea):focus-visible{outline:2px solid var(--dsw-alias-brand-primary);outline-offset:1px}
.assay-toggle{display:flex;align-items:center;gap:12px;width:100%;padding:14px 16px;border:0;border-radius:12px;background:none;color:inherit;text-align:start}
.assay-toggle>span:first-child{flex:1;min-width:0}
.assay-name{display:block;font-size:15px;font-weight:600}
.assay-quiet{color:var(--dsw-alias-label-tertiary);margin:0}
.assay-mark{padding:0 8px;border-radius:999px;background:var(--dsw-alias-bg-module-platform);color:var(--dsw-alias-label-secondary);font-size:11px;font-weight:500;white-space:nowrap}
.assay-body{margin:0 16px;padding:12px 0;border-top:1px solid var(--dsw-alias-border-l2)}
.assay-group{margin:16px 0 0;padding:0;border:0;min-width:0}
.assay-group legend{padding:0;font-weight:600;color:var(--dsw-alias-label-secondary)}
.assay-field{display:grid;grid-template-columns:minmax(0,1fr);gap:4px;overflow-wrap:anywhere;padding:10px 0;border-bottom:1px solid var(--dsw-alias-border-l2)}
.assay-field:last-child{border-bottom:0}
.assay-line{display:flex;flex-wrap:wrap;align-items:center;gap:4px 8px}
.assay-line label{flex:1 1 4em;min-width:0;font-weight:500}
.assay-link{padding:0;border:0;background:none;color:var(--dsw-alias-label-secondary);font-size:12px;text-decoration:underline}
.assay-input{box-sizing:border-box;width:100%;min-height:34px;padding:6px 12px;border:1px solid var(--dsw-alias-border-l2);border-radius:8px;background:var(--dsw-alias-bg-layer-2);color:var(--dsw-alias-label-primary);font:inherit;color-scheme:light dark}
.assay-input::placeholder{color:var(--dsw-alias-label-tertiary)}
.assay-input[aria-invalid]{border-color:var(--dsw-alias-state-error-primary)}
.assay-input:disabled{color:var(--dsw-alias-label-tertiary)}
textarea.assay-input{resize:vertical;font-family:ui-monospace,monospace;font-size:12px}
.assay-check{width:16px;height:16px;margin:0;accent-color:var(--dsw-alias-brand-primary)}
.assay-error{margin:0;color:var(--dsw-alias-state-error-primary)}
.assay-footer{display:flex;flex-wrap:wrap;align-items:center;gap:8px;padding-top:12px}
.assay-footer p{flex:1 1 6em;margin:0}
.assay-button{padding:5px 14px;border:1px solid var(--dsw-alias-border-l2);border-radius:8px;background:none;color:var(--dsw-alias-label-secondary)}
.assay-save{border-color:transparent;background:var(--dsw-alias-label-primary);color:var(--dsw-alias-bg-layer-3)}
`;

/**
 * What an edit of a setting means, and what is wrong with one.
 *
 * @module
 */

/** @typedef {Language} Language */
/** @typedef {{ key: string, type: string, default: unknown, group: string, minimum?: number, maximum?: number, enum?: string[], accepts?: string[], format?: string, secret?: boolean, long?: boolean, title: Record<Language, string>, help: Record<Language, string> }} Field */
/** @typedef {{ text: string } | { flag: boolean } | { unset: true }} Draft What was typed, chosen or asked to be reset. */
/** @typedef {{ name: keyof typeof TEXTS, values?: Record<string, unknown> }} Fault */
/** @typedef {{ set: unknown } | { unset: true } | { fault: Fault }} Edit What a draft means. */

/** @param {unknown} a @param {unknown} b @returns {boolean} */
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** @param {unknown} value @returns {boolean} */
const absent = (value) => value === undefined || value === null || value === "";

/** A value as it is edited. @param {unknown} value @returns {string} */
const asText = (value) =>
  absent(value) ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** What is wrong with a value; the host checks it again. @param {Field} field @param {unknown} value @returns {Fault | null} */
function faultOf(field, value) {
  const { type, minimum = -Infinity, maximum = Infinity } = field;
  if (type === "number" || type === "integer") {
    const fits = typeof value === "number" && Number.isFinite(value) &&
      value >= minimum && value <= maximum &&
      (type === "number" || Number.isInteger(value));
    return fits ? null : {
      name: type === "integer" ? "mustBeWhole" : "mustBeNumber",
      values: { minimum, maximum },
    };
  }
  const fits = type === "boolean"
    ? typeof value === "boolean"
    : type === "json" && !field.accepts?.includes("strings")
    ? ["string", "object"].includes(typeof value)
    : true;
  if (
    !fits ||
    (field.enum !== undefined && !field.enum.includes(String(value)))
  ) return { name: "mustBe", values: { value: asText(value) } };
  if (field.format === "url" && !isServerUrl(value)) {
    return { name: "mustBeUrl" };
  }
  if (field.format === "token" && !/^[\x21-\x7e]+$/.test(String(value))) {
    return { name: "mustBeToken" };
  }
  const strings = Array.isArray(value) &&
    value.every((each) => typeof each === "string" && each !== "");
  return field.accepts?.includes("strings") && !strings ? { name: "mustBeStrings" } : null;
}

/** @param {unknown} value @returns {boolean} */
function isServerUrl(value) {
  try {
    const { protocol, username, password, search, hash } = new URL(
      String(value),
    );
    return /^https?:$/.test(protocol) &&
      username + password + search + hash === "";
  } catch {
    return false;
  }
}

/** @param {Field} field @param {Draft} draft @returns {Edit} */
function editOf(field, draft) {
  if ("unset" in draft) return draft;
  if ("flag" in draft) return { set: draft.flag };
  const text = draft.text.trim();
  if (text === "") return { unset: true };
  /** @type {unknown} */
  let value = field.format === undefined ? draft.text : text;
  if (field.type === "number" || field.type === "integer") {
    value = Number(text);
  }
  if (field.type === "json") {
    const list = field.accepts?.includes("strings");
    try {
      value = list || /^[[{]/.test(text) ? JSON.parse(text) : draft.text;
    } catch {
      // Markdown may open with a link, `[like](this)`.
      if (list || text.startsWith("{")) {
        return { fault: { name: list ? "mustBeStrings" : "mustBeJson" } };
      }
    }
  }
  const fault = faultOf(field, value);
  return fault === null ? { set: value } : { fault };
}

/**
 * One setting: its name, its marks, its control, and what it means or what is wrong with it.
 *
 * @module
 */

/** @typedef {Field} Field */
/** @typedef {Language} Language */

/**
 * @param {any} react The host's React.
 * @returns {(props: any) => unknown} A component: `{ field, stored, draft, refused, secretSet, disabled, language, stage }`.
 */
function createFieldRow({ createElement: h, useId }) {
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
    /** @type {Fault | null} */
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
      /** @type {keyof typeof TEXTS} */ text,
      /** @type {keyof typeof TEXTS} */ label,
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
      /** @type {keyof typeof TEXTS} */ name,
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

/**
 * The settings card. Edits are staged and written on Save.
 *
 * @module
 */

/** @typedef {Draft} Draft */
/** @typedef {Language} Language */

/**
 * @param {any} react The host's React.
 * @returns {(props: any) => unknown} A component: `{ scope, secrets, language }`, three stores to subscribe to.
 */
function createCard(react) {
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

/**
 * The browser half of the plugin, as the host's module loader wants it.
 *
 * @module
 */

/** @typedef {Language} Language */

/** The user's settings namespace. */
const NAMESPACE = "assay";

/**
 * @param {(name: string) => any} require Gives the modules that the host's page shares.
 * @returns {{ name: string, inject: string[], apply(ctx: any): void }}
 */
function createPlugin(require) {
  const { document } = /** @type {any} */ (globalThis);
  return {
    name: "dsh-assay",
    inject: ["slots", "settingsScope"],
    apply(/** @type {any} */ ctx) {
      const sheet = document.createElement("style");
      sheet.dataset.plugin = "dsh-assay";
      sheet.textContent = STYLE;
      document.head.append(sheet);
      ctx.effect?.(() => () => sheet.remove(), "assay: style");

      // The user's layer is shown as it is, so that a stored value which doesn't fit can be seen and mended.
      const bound = ctx.settingsScope.bind({
        namespace: NAMESPACE,
        decode: (/** @type {unknown} */ value) => value ?? {},
      });
      const scope = {
        getSnapshot: () => bound.getSnapshot(),
        subscribe: (/** @type {() => void} */ listener) => bound.subscribe(listener),
        set: (/** @type {string} */ key, /** @type {unknown} */ value) => bound.set(key, value),
        unset: (/** @type {string} */ key) => bound.unset(key),
      };
      const mirror = ctx.settingsScope.describe?.();
      const secrets = {
        /** @returns {boolean | undefined} Whether a token is set; undefined when this host doesn't tell. */
        get: () =>
          mirror?.getSnapshot?.().view?.namespaces
            ?.find((/** @type {any} */ each) => each.ns === NAMESPACE)
            ?.secrets
            ?.find((/** @type {any} */ each) => each.path?.join() === "token")
            ?.set,
        subscribe: (/** @type {() => void} */ listener) => mirror?.subscribe?.(listener) ?? (() => {}),
      };
      ctx.slots.inject("settings.plugin.item", () =>
        ctx.slots.register({
          name: "settings.plugin.item",
          key: NAMESPACE,
          inject: () => ({
            scope,
            secrets,
            language: languageStore(ctx.get?.("locale")),
          }),
        }, createCard(require("react"))));
    },
  };
}

/** The language that the host's page is shown in. @param {any} locale The host's service, which may be absent. */
function languageStore(locale) {
  const { document, MutationObserver } = /** @type {any} */ (globalThis);
  return {
    /** @returns {Language} */
    get() {
      const active = locale?.getSnapshot?.().active ??
        (document.documentElement.lang || navigator.language);
      return String(active).toLowerCase().startsWith("zh") ? "zh" : "en";
    },
    /** @param {() => void} listener @returns {() => void} */
    subscribe(listener) {
      if (typeof locale?.subscribe === "function") {
        return locale.subscribe(listener);
      }
      const observer = new MutationObserver(listener);
      observer.observe(document.documentElement, {
        attributes: true,
        attributeFilter: ["lang"],
      });
      return () => observer.disconnect();
    },
  };
}

return createPlugin(require);
} });
