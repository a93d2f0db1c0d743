/**
 * The events of a session log, folded into what the agent said, did and observed, in the order of the surface.
 *
 * @module
 */
import type { SessionRange } from "./dsh_session.ts";
import type { SessionEvent, SessionRows } from "./dsh_session_rows.ts";
import { isRecord } from "./source.ts";

type Fields = Readonly<Record<string, unknown>>;

/** One call of a tool. */
export interface CallDraft {
  readonly id: string;
  readonly name: string;
  /** A JSON text, or a value. */
  readonly arguments: unknown;
  /** Of the call, or of the message it stands in. */
  seq: number;
  /** Whether its `tool/call` event came. */
  called: boolean;
  output: string | null;
  failed: boolean;
  resultSeq: number | null;
  /** A call of the verifier itself. */
  readonly isOwn: boolean;
  readonly nested: CallDraft[];
}

/** A message of the user or the agent. */
export interface NodeDraft {
  readonly kind: "user" | "agent" | "result" | "other";
  readonly seq: number;
  readonly text: string;
  readonly turnStep: string;
  calls: CallDraft[];
  /** Replaced by something else. */
  hidden: boolean;
  /** For a result: whose it is. */
  readonly call: CallDraft | null;
  /** For a result. */
  readonly failed: boolean;
  /** For a compaction: the first node it stands for. */
  coversFrom: NodeDraft | null;
}

/** What a log folds to. */
export interface FoldedSession {
  /** In the order of the surface; only users and agents. */
  readonly nodes: readonly NodeDraft[];
  /** Events up to this number were inherited from another session; -1 without. */
  readonly seedEnd: number;
  readonly counts: {
    readonly turns: number;
    readonly modelRequests: number;
    readonly toolCalls: number;
    readonly nestedCalls: number;
    readonly replacements: number;
    readonly compactions: number;
  };
  readonly leftOut: ReadonlyMap<string, number>;
  readonly warnings: readonly string[];
}

const OWN_TOOL = /^(?:verifier|verify)_/;

/** Folds events. Whatever their shapes, it doesn't throw. */
export function foldSession({ header, events }: SessionRows, range: SessionRange): FoldedSession {
  const { to = Infinity } = range;
  const order: NodeDraft[] = [];
  const bySeq = new Map<number, NodeDraft>();
  /** The latest call of an id; models repeat ids. */
  const calls = new Map<string, CallDraft>();
  const callsBySeq = new Map<number, CallDraft>();
  const nested = new Map<string, CallDraft>();
  const leftOut = new Map<string, number>();
  const compactionSeqs = new Set<number>();
  const counts = {
    turns: 0,
    modelRequests: 0,
    toolCalls: 0,
    nestedCalls: 0,
    replacements: 0,
    compactions: 0,
  };
  let images = 0;
  let orphans = 0;
  let irregular = 0;
  let seedEnd = header.seedLength - 1;
  let firstMark = -1;
  let inheritedMark = -1;

  const leave = (what: string, count = 1): void => {
    leftOut.set(what, (leftOut.get(what) ?? 0) + count);
  };
  const textOf = (content: unknown): string => {
    const read = blocksText(content);
    images += read.images;
    if (read.reasoning > 0) leave("reasoning", read.reasoning);
    return read.text;
  };

  function node(
    kind: NodeDraft["kind"],
    event: SessionEvent,
    more: { text?: string; call?: CallDraft; failed?: boolean } = {},
  ): NodeDraft {
    const { data } = event;
    return {
      kind,
      seq: event.seq,
      text: more.text ?? "",
      turnStep: `${data.turn}/${data.step}`,
      calls: [],
      hidden: false,
      call: more.call ?? null,
      failed: more.failed ?? false,
      coversFrom: null,
    };
  }

  /** Puts a node where its operation says. */
  function place(made: NodeDraft, event: SessionEvent, isCompaction: boolean): void {
    const op = event.surfaceOp;
    bySeq.set(made.seq, made);
    if (!isRecord(op) || op.op !== "replace") {
      order.push(made);
      return;
    }
    counts.replacements++;
    const start = op.startSeq ?? op.start;
    const end = op.endSeq ?? op.end;
    const first = typeof start === "number" ? bySeq.get(start) : undefined;
    const last = typeof end === "number" ? bySeq.get(end) : undefined;
    const i = first === undefined ? -1 : order.indexOf(first.coversFrom ?? first);
    const j = last === undefined ? -1 : order.indexOf(last);
    if (i === -1 || j === -1 || j < i) {
      irregular++;
      order.push(made);
      return;
    }
    if (isCompaction) {
      counts.compactions++;
      made.coversFrom = order[i]!;
    } else for (const replaced of order.slice(i, j + 1)) replaced.hidden = true;
    order.splice(j + 1, 0, made);
  }

  function addCall(at: NodeDraft, id: unknown, name: unknown, args: unknown, seq: number): CallDraft {
    const call: CallDraft = {
      id: typeof id === "string" ? id : `#${seq}`,
      name: typeof name === "string" && name !== "" ? name : "tool",
      arguments: args,
      seq,
      called: false,
      output: null,
      failed: false,
      resultSeq: null,
      isOwn: typeof name === "string" && OWN_TOOL.test(name),
      nested: [],
    };
    at.calls.push(call);
    calls.set(call.id, call);
    return call;
  }

  function agentMessage(event: SessionEvent): void {
    const message = isRecord(event.data.message) ? event.data.message : {};
    const text = textOf(message.content);
    const made = node("agent", event, {
      text: event.data.interrupted === true ? `${text}\n(The message was interrupted.)`.trimStart() : text,
    });
    for (const block of list(message.content)) {
      if (block.type === "tool-call") addCall(made, block.id, block.name, block.arguments, event.seq);
    }
    place(made, event, false);
  }

  function toolCall(event: SessionEvent): void {
    counts.toolCalls++;
    const { callId, name, arguments: args, turn, step } = event.data;
    let call = typeof callId === "string" ? calls.get(callId) : undefined;
    if (call === undefined || call.called) {
      // No message holds it: the message was lost, or the id is used again.
      const turnStep = `${turn}/${step}`;
      let at = order.findLast((each) => each.kind === "agent");
      if (at === undefined || at.turnStep !== turnStep) {
        at = node("agent", event);
        order.push(at);
      }
      call = addCall(at, callId, name, args, event.seq);
    }
    call.called = true;
    call.seq = event.seq;
    callsBySeq.set(event.seq, call);
  }

  function toolResult(event: SessionEvent): void {
    const message = isRecord(event.data.message) ? event.data.message : {};
    const blocks = list(message.content).filter((block) => block.type === "tool-result");
    const cited = event.sourceEventSeqs.map((seq) => callsBySeq.get(seq)).find((call) => call !== undefined);
    const source = isRecord(message.source) ? message.source : {};
    const parts: readonly Fields[] = blocks.length > 0 ? blocks : [message];
    parts.forEach((part, i) => {
      const id = part.toolCallId ?? source.callId;
      const named = typeof id === "string" ? calls.get(id) : undefined;
      // What it cites is exact; ids may be repeated.
      const call = parts.length === 1 ? cited ?? named : named;
      if (call === undefined) {
        orphans++;
        return;
      }
      const made = node("result", event, {
        text: textOf(part.content),
        call,
        failed: part.isError === true || isRecord(event.data.error),
      });
      if (i === 0) place(made, event, false);
      else order.push(made);
    });
  }

  function dispatch(event: SessionEvent, isEnd: boolean): void {
    const { rootCallId, subCallId, name, arguments: args, content, isError } = event.data;
    const root = typeof rootCallId === "string" ? calls.get(rootCallId) : undefined;
    if (root === undefined) {
      orphans++;
      return;
    }
    const id = typeof subCallId === "string" ? subCallId : `#${event.seq}`;
    // Sub-ids count within their program, whose id may be used again.
    const key = `${root.seq}/${id}`;
    let call = nested.get(key);
    if (call === undefined) {
      counts.nestedCalls++;
      call = {
        id,
        name: `${root.name}/${typeof name === "string" && name !== "" ? name : "tool"}`,
        arguments: args,
        seq: event.seq,
        called: true,
        output: null,
        failed: false,
        resultSeq: null,
        isOwn: typeof name === "string" && OWN_TOOL.test(name),
        nested: [],
      };
      nested.set(key, call);
      root.nested.push(call);
    }
    if (!isEnd) return;
    call.output = textOf(content);
    call.failed = isError === true;
    call.resultSeq = event.seq;
  }

  for (const event of events) {
    if (event.seq > to) continue;
    switch (event.type) {
      case "turn/start":
        counts.turns++;
        break;
      case "step/start":
        counts.modelRequests++;
        break;
      case "user/message": {
        const source = isRecord(event.data.source) ? event.data.source : {};
        const kind = typeof source.kind === "string"
          ? source.kind.slice(0, 60).toWellFormed()
          : "unknown source";
        const isUser = kind === "user";
        if (!isUser) leave(kind);
        const isCompaction = !isUser && (kind === "compact-checkpoint" ||
          event.sourceEventSeqs.some((seq) => compactionSeqs.has(seq)));
        const text = isUser ? textOf(event.data.content) : "";
        place(node(isUser ? "user" : "other", event, { text }), event, isCompaction);
        break;
      }
      case "system/message":
      case "developer/message":
        leave("system");
        place(node("other", event), event, false);
        break;
      case "assistant/message":
        agentMessage(event);
        break;
      case "assistant/attempt":
        leave("failed attempt");
        break;
      case "tool/call":
        toolCall(event);
        break;
      case "tool/result":
        toolResult(event);
        break;
      case "tool/code-dispatch-start":
      case "tool/ptc-dispatch-start":
        dispatch(event, false);
        break;
      case "tool/code-dispatch":
      case "tool/ptc-dispatch":
        dispatch(event, true);
        break;
      case "compaction/start":
      case "compaction/summary":
        compactionSeqs.add(event.seq);
        break;
      case "session/end-seed":
        // A mark that says nothing of inheriting stands where a session was resumed, forks among them.
        if (event.data.inherited === true) inheritedMark = event.seq;
        else if (firstMark === -1) firstMark = event.seq;
        break;
    }
  }

  seedEnd = Math.max(seedEnd, inheritedMark === -1 && header.isSeeded ? firstMark : inheritedMark);

  for (const each of order) {
    if (each.kind !== "result" || each.hidden || each.call === null) continue;
    each.call.output = each.text;
    each.call.failed = each.failed;
    each.call.resultSeq = each.seq;
  }
  for (const each of order) {
    const own = each.calls.filter(({ isOwn }) => isOwn).length +
      each.calls.flatMap((call) => call.isOwn ? [] : call.nested).filter(({ isOwn }) => isOwn).length;
    if (own > 0) leave("the verifier's own calls", own);
    each.calls = each.calls.filter(({ isOwn }) => !isOwn);
  }
  const nodes = order.filter(({ kind }) => kind === "user" || kind === "agent");
  const seeded = nodes.filter((each) => each.seq <= seedEnd && !each.hidden).length;
  if (seeded > 0) leave("inherited by the fork", seeded);
  const hidden = nodes.filter((each) => each.hidden).length;
  if (hidden > 0) leave("replaced", hidden);
  const warnings: string[] = [];
  if (orphans > 0) warnings.push(`${orphans} results answer no call of this log and were left out`);
  if (irregular > 0) {
    warnings.push(`${irregular} replacements name surfaces that are not there; nothing was replaced`);
  }
  if (images > 0) warnings.push(`${images} images are not part of the log; [image] stands in their place`);
  return { nodes, seedEnd, counts, leftOut, warnings };
}

function list(content: unknown): readonly Fields[] {
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

/** Text of content blocks; images as `[image]`, reasoning counted. */
function blocksText(content: unknown): { text: string; images: number; reasoning: number } {
  if (typeof content === "string") return { text: content, images: 0, reasoning: 0 };
  const texts: string[] = [];
  let images = 0;
  let reasoning = 0;
  for (const block of list(content)) {
    if (block.type === "text" && typeof block.text === "string") texts.push(block.text);
    else if (block.type === "reasoning") reasoning++;
    else if (block.type === "image") {
      images++;
      texts.push("[image]");
    }
  }
  return { text: texts.join("\n"), images, reasoning };
}
