/**
 * The model that the host's agents talk to: chat completions on 127.0.0.1, always streamed, answered by a script.
 *
 * ```ts ignore
 * await using model = startModel([{ calls: [{ name: "verifier_status", arguments: {} }] }, { text: "Done." }]);
 * await using model = startModel((request) => request.task.includes("child") ? { text: "c" } : { text: "p" });
 * ```
 *
 * A script may be asynchronous: what a test does between two steps of an agent stands in it.
 *
 * @module
 */

/** A message as the model gets it; tool results are messages of the role `tool`. */
export interface ModelMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}

/** One request of an agent. */
export interface ModelRequest {
  /** From 0, agents' requests only. */
  readonly index: number;
  /** The session that asks, as the host's own header says. */
  readonly session: string;
  readonly messages: readonly ModelMessage[];
  /** Names of the tools that are offered. */
  readonly tools: readonly string[];
  /** Text of the newest message. */
  readonly last: string;
  /** Text of the whole conversation. */
  readonly all: string;
}

/** What the model says. */
export interface ModelAnswer {
  readonly text?: string;
  readonly reasoning?: string;
  /** Several calls in one answer are several entries. A string as arguments is sent as it is. */
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
}

/** Answers in their order (the last one stays), or a rule. */
export type ModelScript =
  | readonly ModelAnswer[]
  | ((request: ModelRequest) => ModelAnswer | Promise<ModelAnswer>);

/** A running model. */
export interface Model extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  /** Requests without tools: session titles. */
  readonly titles: number;
}

/** Starts a model on a free port. */
export function startModel(script: ModelScript): Model {
  const requests: ModelRequest[] = [];
  let titles = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname;
    if (!path.endsWith("/chat/completions")) {
      await request.body?.cancel();
      return new Response(null, { status: 404 });
    }
    const body = await request.json() as {
      messages: ModelMessage[];
      tools?: { function: { name: string } }[];
    };
    if ((body.tools ?? []).length === 0) {
      titles++;
      return reply({ text: "A title" }, "title");
    }
    const asked: ModelRequest = {
      index: requests.length,
      session: request.headers.get("x-deepseek-harness-session-id") ?? "",
      messages: body.messages,
      tools: body.tools!.map((tool) => tool.function.name),
      last: textOf(body.messages.at(-1)),
      all: body.messages.map(textOf).join("\n"),
    };
    requests.push(asked);
    const answer = typeof script === "function"
      ? await script(asked)
      : script[Math.min(asked.index, script.length - 1)] ?? { text: "Nothing more." };
    return reply(answer, `call_${asked.index}`);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    get titles() {
      return titles;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Flat text of a message's content. */
export function textOf(message: ModelMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown }) => typeof part.text === "string" ? part.text : "").join("");
}

function reply({ text, reasoning, calls = [] }: ModelAnswer, prefix: string): Response {
  const chunk = (delta: unknown, finish: string | null = null): unknown => ({
    id: "stub",
    object: "chat.completion.chunk",
    created: 1_767_225_600,
    model: "stub",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const chunks: unknown[] = [chunk({ role: "assistant", content: "" })];
  if (reasoning !== undefined) chunks.push(chunk({ reasoning_content: reasoning }));
  for (const part of text?.match(/[^]{1,40}/gu) ?? []) chunks.push(chunk({ content: part }));
  calls.forEach((call, index) => {
    const written = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
    const id = `${prefix}_${index}`;
    chunks.push(
      chunk({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: written } }] }),
    );
  });
  chunks.push(chunk({}, calls.length > 0 ? "tool_calls" : "stop"));
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  chunks.push({ ...(chunk({}) as object), choices: [], usage });
  const body = chunks.map((item) => `data: ${JSON.stringify(item)}\n\n`).join("") + "data: [DONE]\n\n";
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
