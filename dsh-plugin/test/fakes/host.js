// @ts-check
/**
 * A host in memory: sessions with logs of every format, agents, and a context with the services that this plugin reads
 * sessions through. Shapes are those of real logs: 0.1.0-rc.8 writes format 0; formats 3 and 4 are of later hosts.
 *
 * @module
 */

/** @typedef {import("../../lib/host/events.js").HostEvent} HostEvent */
/** @typedef {import("../../lib/host/events.js").HostHeader} HostHeader */
/** @typedef {import("../../lib/host/events.js").Fields} Fields */

/**
 * A session that is written like a host writes it: every method appends events in the shape of the session's format.
 */
export class FakeSession {
  /** @type {HostEvent[]} */
  log = [];
  /** @type {readonly HostEvent[] | undefined} */
  events;
  /** @type {(() => readonly HostEvent[]) | undefined} */
  snapshotEvents;
  turn = 0;
  step = 0;
  #ids = 0;

  /**
   * @param {Partial<HostHeader> & { reads?: "events" | "snapshotEvents" }} [options] `reads`: how the host gives the live
   * log; default as hosts of that format do.
   */
  constructor({ reads, ...header } = {}) {
    /** @type {HostHeader} */
    this.header = Object.freeze({
      version: 0,
      id: "session-1",
      createdAt: 0,
      cwd: "/work",
      ...header,
    });
    this.id = this.header.id;
    const how = reads ??
      (this.header.version >= 2 ? "snapshotEvents" : "events");
    if (how === "events") {
      Object.defineProperty(this, "events", {
        get: () => Object.freeze([...this.log]),
        enumerable: true,
      });
    } else this.snapshotEvents = () => [...this.log];
  }

  /**
   * @param {string} type
   * @param {unknown} data
   * @param {Partial<HostEvent>} [more]
   * @returns {HostEvent}
   */
  append(type, data, more = {}) {
    const event = {
      type,
      seq: this.log.length,
      time: 1000 + this.log.length,
      data,
      ...more,
    };
    this.log.push(event);
    return event;
  }

  /** Begins a turn and its first step. */
  startTurn() {
    this.turn++;
    this.step = 0;
    this.append("turn/start", { turn: this.turn });
    this.nextStep();
  }

  nextStep() {
    this.step++;
    this.append("step/start", { turn: this.turn, step: this.step });
  }

  /** @param {Fields} [reason] */
  endTurn(reason = { kind: "completed" }) {
    this.append("step/end", { turn: this.turn, step: this.step });
    this.append("turn/end", { turn: this.turn, reason });
  }

  /**
   * A user-role message.
   * @param {string} text
   * @param {{ source?: Fields, images?: readonly Fields[], more?: Partial<HostEvent> }} [options]
   */
  user(text, { source = { kind: "user" }, images = [], more = {} } = {}) {
    const content = [
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...images.map((attachment) => ({ type: "image", attachment })),
    ];
    return this.append("user/message", {
      id: `m${++this.#ids}`,
      role: "user",
      content,
      source,
    }, {
      surfaceOp: "append",
      ...more,
    });
  }

  /**
   * A message of the agent with the calls it asks for; the calls begin by `call`.
   * @param {string} text
   * @param {readonly { id: string, name: string, args: unknown }[]} [calls]
   */
  agent(text, calls = []) {
    const content = [
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map(({ id, name, args }) => ({
        type: "tool-call",
        id,
        name,
        arguments: json(args),
      })),
    ];
    return this.append("assistant/message", {
      turn: this.turn,
      step: this.step,
      message: {
        id: `m${++this.#ids}`,
        role: "assistant",
        content,
        source: { kind: "model", provider: "stub", model: "stub" },
      },
      usage: { inputTokens: 1, outputTokens: 1 },
    }, {
      surfaceOp: "append",
      ...(this.header.version >= 3 ? {} : { sourceEventSeqs: [] }),
    });
  }

  /** @param {string} id @param {string} name @param {unknown} args */
  call(id, name, args) {
    return this.append("tool/call", {
      turn: this.turn,
      step: this.step,
      callId: id,
      name,
      arguments: json(args),
    });
  }

  /**
   * The result of the newest call of an id.
   * @param {string} id
   * @param {string | readonly Fields[]} output
   * @param {{ isError?: boolean, more?: Partial<HostEvent> }} [options]
   */
  result(id, output, { isError = false, more = {} } = {}) {
    const content = typeof output === "string" ? [{ type: "text", text: output }] : output;
    const source = { kind: "tool", callId: id };
    const message = this.header.version >= 4
      ? {
        id: `m${++this.#ids}`,
        role: "tool",
        source,
        toolCallId: id,
        content,
        isError,
      }
      : {
        id: `m${++this.#ids}`,
        role: "user",
        source,
        content: [{ type: "tool-result", toolCallId: id, content, isError }],
      };
    const cited = this.log.findLast(({ type, data }) =>
      type === "tool/call" && /** @type {Fields} */ (data).callId === id
    );
    return this.append("tool/result", {
      turn: this.turn,
      step: this.step,
      message,
    }, {
      surfaceOp: "append",
      ...(cited === undefined ? {} : { sourceEventSeqs: [cited.seq] }),
      ...more,
    });
  }

  /**
   * A message with one call, the call and its result.
   * @param {string} id @param {string} name @param {unknown} args @param {string} output @param {{ isError?: boolean }} [options]
   */
  tool(id, name, args, output, options = {}) {
    this.agent("", [{ id, name, args }]);
    this.call(id, name, args);
    return this.result(id, output, options);
  }

  /**
   * A call that a program of the agent begins; its sub-id is returned.
   * @param {string} root @param {string} name @param {unknown} args @returns {string}
   */
  dispatch(root, name, args) {
    const kind = this.#dispatchKind();
    const count =
      this.log.filter(({ type, data }) =>
        type === `tool/${kind}-dispatch-start` && /** @type {Fields} */
        (data).rootCallId === root
      ).length;
    const subCallId = `${root}:${kind}:${count + 1}`;
    this.append(`tool/${kind}-dispatch-start`, {
      rootCallId: root,
      parentCallId: root,
      subCallId,
      name,
      arguments: args,
    });
    return subCallId;
  }

  /** @param {string} subCallId @param {string} output @param {{ isError?: boolean }} [options] */
  dispatched(subCallId, output, { isError = false } = {}) {
    const kind = this.#dispatchKind();
    const start = this.log.findLast(({ type, data }) =>
      type === `tool/${kind}-dispatch-start` && /** @type {Fields} */
      (data).subCallId === subCallId
    );
    return this.append(`tool/${kind}-dispatch`, {
      .../** @type {Fields} */ (start?.data),
      isError,
      content: [{ type: "text", text: output }],
    });
  }

  /**
   * A fork of this session as it stands: all its events, then, from format 2 on, the mark that they are inherited.
   * @param {string} id
   */
  fork(id) {
    const { version, seedLength: _, isSeeded: __, ...rest } = this.header;
    const child = new FakeSession({
      ...rest,
      version,
      id,
      parentSession: this.id,
      ...(version >= 2 ? { isSeeded: true } : { seedLength: this.log.length }),
    });
    child.log = [...this.log];
    child.turn = this.turn;
    child.append("session/end-seed", version >= 2 ? { inherited: true } : {});
    return child;
  }

  /** The same session after the host was started again. */
  resume() {
    const again = new FakeSession(this.header);
    again.log = [...this.log];
    again.turn = this.turn;
    again.append("session/end-seed", {});
    return again;
  }

  #dispatchKind() {
    return this.header.version >= 4 ? "ptc" : "code";
  }
}

/** An agent with its session; what it is steered with is kept, and appended as the host would. */
export class FakeAgent {
  /** @type {Fields[]} */
  steered = [];

  /** @param {FakeSession} [session] */
  constructor(session = new FakeSession()) {
    this.session = session;
    this.id = `agent-of-${session.id}`;
  }

  /** @param {Fields} message */
  steer(message) {
    this.steered.push(message);
    this.session.append("user/message", message, { surfaceOp: "append" });
  }
}

/**
 * @typedef {object} FakeContextOptions
 * @property {readonly FakeSession[]} [sessions]
 * @property {"readFrom" | "open" | "none"} [persistence] Which face the stored log has; default as the first session's
 * format suggests.
 * @property {number} [page] Events that one `read` of a handle gives at most.
 * @property {boolean | Error} [flush] What a flush answers or throws; default true.
 * @property {(session: FakeSession) => readonly HostEvent[]} [stored] What the store holds; default the whole log.
 * @property {Readonly<Record<string, { data: Uint8Array, mediaType: string }>>} [images] Attachments by id.
 */

/**
 * A host's context: `get(name)` and the services as properties, as both are used.
 * @param {FakeContextOptions} [options]
 */
export function fakeContext({
  sessions = [],
  persistence = (sessions[0]?.header.version ?? 0) >= 2 ? "open" : "readFrom",
  page = Infinity,
  flush = true,
  stored = ({ log }) => log,
  images = {},
} = {}) {
  const seen = { flushed: 0, opened: 0, closed: 0, reads: 0, images: 0 };
  /** @param {unknown} id */
  const find = (id) => {
    const session = sessions.find((each) => each.id === id);
    if (session === undefined) throw new Error(`no session ${id}`);
    return session;
  };
  /** @param {AbortSignal} [signal] */
  const check = (signal) => {
    // The host's reasons are plain objects.
    if (signal?.aborted === true) throw signal.reason;
  };
  /** @type {Record<string, unknown>} */
  const services = {
    sessions: {
      flush: () => {
        seen.flushed++;
        return flush instanceof Error ? Promise.reject(flush) : Promise.resolve(flush);
      },
      get: find,
    },
    attachments: {
      /** @param {{ attachmentId: string }} ref @param {AbortSignal} [signal] */
      readImage: (ref, signal) => {
        seen.images++;
        return Promise.resolve().then(() => {
          check(signal);
          const image = images[ref.attachmentId];
          if (image === undefined) {
            throw new Error("the attachment is missing from the store");
          }
          return {
            ref: { ...ref, mediaType: image.mediaType },
            data: image.data,
          };
        });
      },
    },
  };
  if (persistence === "readFrom") {
    services.sessionPersistence = {
      /** @param {string} id @param {number} from @param {AbortSignal} [signal] */
      readFrom: (id, from, signal) =>
        Promise.resolve().then(() => {
          check(signal);
          seen.reads++;
          const session = find(id);
          return {
            meta: { ...session.header },
            events: stored(session).filter(({ seq }) => seq >= from),
          };
        }),
    };
  } else if (persistence === "open") {
    services.sessionPersistence = {
      /** @param {string} id @param {string} mode */
      open: (id, mode) => {
        if (mode !== "read") throw new Error(`unknown mode ${mode}`);
        seen.opened++;
        const session = find(id);
        return Promise.resolve({
          header: { ...session.header },
          /** @param {number} offset @param {number} [length] @param {{ signal?: AbortSignal }} [options] */
          read: (offset, length = Infinity, { signal } = {}) =>
            Promise.resolve().then(() => {
              check(signal);
              seen.reads++;
              if (offset >= session.log.length) throw new RangeError(`offset ${offset} lies behind the log`);
              return {
                events: stored(session).slice(
                  offset,
                  offset + Math.min(length, page),
                ),
              };
            }),
          close: () => {
            seen.closed++;
            return Promise.resolve();
          },
        });
      },
    };
  }
  return {
    ...services,
    /** What was asked of the services, counted. */
    seen,
    /** @param {string} name @returns {any} */
    get: (name) => services[name],
  };
}

/** @param {unknown} args @returns {string} */
function json(args) {
  return typeof args === "string" ? args : JSON.stringify(args);
}
