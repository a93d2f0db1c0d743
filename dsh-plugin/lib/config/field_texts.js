// @ts-check
/**
 * What the settings are called and what they do, in the host's two languages. Keys are those of the settings namespace.
 *
 * @module
 */

/** @typedef {{ readonly en: string, readonly zh: string }} Text */

/**
 * @param {string} en
 * @param {string} zh
 * @returns {Text}
 */
const text = (en, zh) => Object.freeze({ en, zh });

/** @type {Readonly<Record<string, { readonly title: Text, readonly help: Text }>>} */
export const TEXTS = Object.freeze({
  url: {
    title: text("Server address", "服务器地址"),
    help: text(
      "Where the Assay server answers: http or https, without user name and password.",
      "Assay 服务器的地址：http 或 https，不含用户名和密码。",
    ),
  },
  token: {
    title: text("Token", "令牌"),
    help: text(
      "Sent as a bearer token to the server's own origin and nowhere else. Leave it empty when the server asks for none.",
      "作为 Bearer 令牌只发送给该服务器本身。服务器不要求令牌时留空。",
    ),
  },
  timeoutMs: {
    title: text("Deadline of a tool call (ms)", "单次工具调用的时限（毫秒）"),
    help: text(
      "The longest a verifier tool may take, everything included.",
      "一次验证工具调用的最长总时间。",
    ),
  },
  autostart: {
    title: text(
      "Start a local server when none answers",
      "无人应答时启动本地服务器",
    ),
    help: text(
      "Only for an address on this machine. The server ends together with DSH. The first start may fetch Deno through npx.",
      "仅适用于本机地址。服务器随 DSH 一同结束。首次启动时可能通过 npx 下载 Deno。",
    ),
  },
  serverDirectory: {
    title: text("Server's folder", "服务器目录"),
    help: text(
      "Folder of the Assay server to start. Empty: the one that came with this package, or the checkout it stands in.",
      "要启动的 Assay 服务器所在目录。留空则使用随本包附带的服务器或其所在的源码目录。",
    ),
  },
  judge: {
    title: text("Judge", "评审模型"),
    help: text(
      "Name of a judge in the server's configuration, or JSON: one judge with its options, or an array of up to 5. Empty: the server's default.",
      "服务器配置中的评审名称，或 JSON：带选项的单个评审，或最多 5 个的数组。留空则使用服务器默认值。",
    ),
  },
  channel: {
    title: text("Least accepted channel", "最低可接受通道"),
    help: text(
      "The least way of reading the judge's letters that is accepted: any; continuation (probabilities, also those of one constrained token); logprobs (probabilities of the answer itself). Less is an error. Empty: the server's default.",
      "可接受的最低读取方式：any（任意）；continuation（有概率，也可来自一个受约束的词元）；logprobs（答案本身的概率）。达不到即报错。留空则使用服务器默认值。",
    ),
  },
  criteria: {
    title: text("Rubric", "评分标准"),
    help: text(
      "Name of a built-in rubric, path of a file, Markdown, or JSON.",
      "内置评分标准的名称、文件路径、Markdown 或 JSON。",
    ),
  },
  repeats: {
    title: text("Repeats", "重复次数"),
    help: text(
      "Judged calls for every pair and criterion. Empty: the server's default.",
      "每一对、每条标准的评审次数。留空则使用服务器默认值。",
    ),
  },
  sendImages: {
    title: text("Show images to the judge", "向评审发送图片"),
    help: text(
      "Pictures of the user's messages go along.",
      "用户消息中的图片会一并发送。",
    ),
  },
  maxCharacters: {
    title: text("Characters of session evidence", "会话证据的字符数"),
    help: text(
      "Above this many characters the oldest steps of a session are shortened; the answer says how many.",
      "超过此字符数时缩短会话中最早的步骤；结果会说明缩短了多少。",
    ),
  },
  redact: {
    title: text("Patterns to take out", "需移除的模式"),
    help: text(
      "JSON array of regular expressions. What they match is taken out before anything is judged or stored; known kinds of secrets always are. Only verifier_best_of_n uses its prompt as it is.",
      "正则表达式的 JSON 数组。匹配内容在评审或存储之前移除；已知类型的密钥始终会被移除。只有 verifier_best_of_n 原样使用其提示。",
    ),
  },
  gateEnabled: {
    title: text("Judge the work when a turn ends", "在回合结束时评审"),
    help: text(
      "Work below the threshold is sent back once with what is missing. When the verifier can't decide, the turn ends as it would without it.",
      "低于阈值的工作会连同不足之处退回。验证器无法判断时，回合照常结束。",
    ),
  },
  gateThreshold: {
    title: text("Threshold", "阈值"),
    help: text(
      "Work with a score below it is sent back.",
      "得分低于该值的工作会被退回。",
    ),
  },
  gateMaxGatesPerTurn: {
    title: text("Most returns in a turn", "每回合最多退回次数"),
    help: text(
      "After this many the turn ends whatever the score.",
      "达到次数后，无论得分如何回合都会结束。",
    ),
  },
  gateEvaluations: {
    title: text("Evaluations", "评审次数"),
    help: text(
      "Judged calls for every criterion of the gate.",
      "门控中每条标准的评审次数。",
    ),
  },
  gateCriteria: {
    title: text("Gate's rubric", "门控的评分标准"),
    help: text(
      "As the rubric above, for the gate alone. Empty: the rubric above.",
      "同上方的评分标准，但仅用于门控。留空则使用上方的评分标准。",
    ),
  },
  gateProblem: {
    title: text("Task", "任务"),
    help: text(
      "What the work is judged against. Empty: what the user asked for in the session.",
      "评审所依据的任务。留空则使用用户在会话中提出的任务。",
    ),
  },
  gateSteerText: {
    title: text("Opening of the return message", "退回消息的开头"),
    help: text(
      "Stands above the score and the failing criteria. Empty: a built-in text.",
      "位于得分和未通过标准之前的文字。留空则使用内置文本。",
    ),
  },
  gateIncludeSubagents: {
    title: text("Subagents too", "包括子代理"),
    help: text(
      "Judge the turns of delegated agents as well.",
      "同时评审被委派代理的回合。",
    ),
  },
  gateTotalMs: {
    title: text(
      "Longest wait at a turn's end (ms)",
      "回合结束时的最长等待（毫秒）",
    ),
    help: text(
      "Everything the gate and the automatic reviews do in a turn has to fit in; then the turn ends.",
      "门控和自动评审在一个回合内的全部操作须在此时间内完成，否则回合直接结束。",
    ),
  },
  gateMode: {
    title: text("Automatic reviews", "自动评审"),
    help: text(
      "manual: none. smart: candidates, todo lists, plans and larger turns are judged. strict: every turn in which something was done.",
      "manual：不进行。smart：评审候选、待办列表、计划和较大的回合。strict：评审每个做了事的回合。",
    ),
  },
  gateMinToolCalls: {
    title: text("Least tool calls", "最少工具调用数"),
    help: text(
      "A turn with fewer tool calls is too small for an automatic review.",
      "工具调用少于此数的回合不进行自动评审。",
    ),
  },
  gateReviewPlans: {
    title: text("Review plans", "评审计划"),
    help: text(
      "With smart or strict: a plan is judged before it is followed.",
      "在 smart 或 strict 下：计划执行前先评审。",
    ),
  },
  gateReviewTeamTasks: {
    title: text("Review team tasks", "评审团队任务"),
    help: text(
      "With smart or strict: what delegated agents report is judged.",
      "在 smart 或 strict 下：评审被委派代理的汇报。",
    ),
  },
  gateCallsPerTask: {
    title: text("Judged calls per task", "每个任务的评审调用数"),
    help: text(
      "No more are bought for one task.",
      "单个任务不会购买更多调用。",
    ),
  },
  gateCallsPerSession: {
    title: text("Judged calls per session", "每个会话的评审调用数"),
    help: text(
      "No more are bought for one session.",
      "单个会话不会购买更多调用。",
    ),
  },
  gateReviewsPerTask: {
    title: text("Automatic reviews per task", "每个任务的自动评审次数"),
    help: text("The gate has its own limit.", "门控有其单独的上限。"),
  },
  gateReviewsPerSession: {
    title: text("Automatic reviews per session", "每个会话的自动评审次数"),
    help: text("The gate has its own limit.", "门控有其单独的上限。"),
  },
});
