// @ts-check
/**
 * The tool calls of a session's log with their results, in every format: `tool/call` and `tool/result` events with the
 * result in a block (formats 0 to 3) or as a message (format 4), and calls that the agent's programs made
 * (`tool/code-dispatch`, `tool/ptc-dispatch`).
 *
 * Results find their call by the event they cite, else by its id; models do repeat ids. What a compaction or a pruner
 * put in a result's place later doesn't change what the call gave.
 *
 * @module
 */
import { blocksOf, dataOf, isFields, textOf } from "./events.js";

/** @typedef {import("./events.js").HostEvent} HostEvent */
/** @typedef {import("./events.js").Fields} Fields */

/**
 * @typedef {object} CallResult
 * @property {number} seq
 * @property {boolean} isError
 * @property {string} text
 * @property {unknown} content The blocks.
 */

/**
 * @typedef {object} ToolCall
 * @property {string} callId
 * @property {string} name
 * @property {Fields | null} arguments Null when the model's text is no JSON object.
 * @property {string} rawArguments As JSON text.
 * @property {number | null} turn
 * @property {number | null} step
 * @property {number} seq Of the event with which the call began.
 * @property {number} occurrence How many earlier calls of this log have the same id; nearly always 0.
 * @property {CallResult | null} result Null while the call runs, and for ever when it was interrupted.
 * @property {ToolCall[]} nested Calls that a program of this call made, in their order.
 */

const DISPATCH = /^tool\/(?:code|ptc)-dispatch(-start)?$/;

/**
 * The calls of a log, in the order in which they began.
 *
 * @param {readonly HostEvent[]} events
 * @returns {ToolCall[]} Without nested ones, which stand in their call's `nested`.
 */
export function toolCalls(events) {
  /** @type {ToolCall[]} */
  const calls = [];
  /** The newest call of an id. @type {Map<string, ToolCall>} */
  const byId = new Map();
  /** @type {Map<number, ToolCall>} */
  const bySeq = new Map();
  /** @type {Map<string, ToolCall>} */
  const nested = new Map();
  /** @type {Map<string, number>} */
  const seen = new Map();
  /** Calls that a message announces, until they begin. @type {Map<string, { block: Fields, event: HostEvent }>} */
  const announced = new Map();

  /** @param {unknown} id @param {unknown} name @param {unknown} args @param {HostEvent} event @returns {ToolCall} */
  const make = (id, name, args, event) => {
    const callId = typeof id === "string" && id !== "" ? id : `#${event.seq}`;
    const occurrence = seen.get(callId) ?? 0;
    seen.set(callId, occurrence + 1);
    const { turn, step } = dataOf(event);
    return {
      callId,
      name: typeof name === "string" ? name : "",
      ...readArguments(args),
      turn: typeof turn === "number" ? turn : null,
      step: typeof step === "number" ? step : null,
      seq: event.seq,
      occurrence,
      result: null,
      nested: [],
    };
  };
  /** @param {ToolCall} call */
  const add = (call) => {
    calls.push(call);
    byId.set(call.callId, call);
    bySeq.set(call.seq, call);
    announced.delete(call.callId);
    return call;
  };

  for (const event of events) {
    const data = dataOf(event);
    if (event.type === "assistant/message") {
      const message = isFields(data.message) ? data.message : {};
      for (const block of blocksOf(message.content)) {
        if (block.type === "tool-call" && typeof block.id === "string") {
          announced.set(block.id, { block, event });
        }
      }
    } else if (event.type === "tool/call") {
      add(make(data.callId, data.name, data.arguments, event));
    } else if (event.type === "tool/result") {
      for (const { id, result } of readResults(event, data)) {
        const cites = Array.isArray(event.sourceEventSeqs) ? event.sourceEventSeqs : [];
        const cited = cites.map((seq) => bySeq.get(seq)).find((call) =>
          call !== undefined && (id === undefined || call.callId === id)
        );
        let call = cited ?? (id === undefined ? undefined : byId.get(id));
        const told = id === undefined ? undefined : announced.get(id);
        // Only the message tells of it: the log lost its `tool/call`.
        if (call === undefined && told !== undefined) {
          call = add(
            make(id, told.block.name, told.block.arguments, told.event),
          );
        }
        if (call !== undefined) call.result ??= result;
      }
    } else {
      const dispatch = DISPATCH.exec(event.type);
      const root = dispatch !== null && typeof data.rootCallId === "string"
        ? byId.get(data.rootCallId)
        : undefined;
      if (dispatch === null || root === undefined) continue;
      // Sub-ids count within their root, which may be used again.
      const key = `${root.seq}/${typeof data.subCallId === "string" ? data.subCallId : `#${event.seq}`}`;
      let call = nested.get(key);
      if (call === undefined) {
        call = make(data.subCallId, data.name, data.arguments, event);
        call.turn = root.turn;
        call.step = root.step;
        nested.set(key, call);
        root.nested.push(call);
      }
      if (dispatch[1] === undefined) {
        call.result ??= {
          seq: event.seq,
          isError: data.isError === true,
          text: textOf(data.content),
          content: data.content,
        };
      }
    }
  }
  return calls.toSorted((a, b) => a.seq - b.seq);
}

/**
 * Calls and nested calls in the order in which they began.
 *
 * @param {readonly HostEvent[]} events
 * @returns {ToolCall[]}
 */
export function allCalls(events) {
  return toolCalls(events).flatMap((call) => [call, ...call.nested]).toSorted((
    a,
    b,
  ) => a.seq - b.seq);
}

/** @param {unknown} given @returns {{ arguments: Fields | null, rawArguments: string }} */
function readArguments(given) {
  if (typeof given !== "string") {
    return {
      arguments: isFields(given) ? given : null,
      rawArguments: JSON.stringify(given ?? {}),
    };
  }
  try {
    const value = JSON.parse(given);
    return { arguments: isFields(value) ? value : null, rawArguments: given };
  } catch {
    // Models do write broken JSON; the text shows it, and `null` says that it holds no arguments.
    return { arguments: null, rawArguments: given };
  }
}

/** @param {HostEvent} event @param {Fields} data @returns {{ id: string | undefined, result: CallResult }[]} */
function readResults(event, data) {
  const message = isFields(data.message) ? data.message : {};
  const source = isFields(message.source) ? message.source : {};
  const blocks = blocksOf(message.content).filter(({ type }) => type === "tool-result");
  return (blocks.length > 0 ? blocks : [message]).map((part) => {
    const id = part.toolCallId ?? source.callId;
    return {
      id: typeof id === "string" ? id : undefined,
      result: {
        seq: event.seq,
        isError: part.isError === true || isFields(data.error),
        text: textOf(part.content),
        content: part.content,
      },
    };
  });
}
