// @ts-check
/**
 * Runs the session's tools as a host does within a fake session: the call is logged, executed, checked against its
 * schema, and its result logged.
 *
 * @module
 */
import assert from "node:assert/strict";
import { toolDefinitions } from "../../lib/tools/register.js";
import { session, trackerResult, trackerStart, trackerUpdate } from "../../lib/tools/session_specs.js";
import { fakeDeps } from "../fakes/deps.js";
import { FakeAgent, fakeContext, FakeSession } from "../fakes/host.js";
import { schemaViolations, valueViolations } from "../fakes/host_schema.js";

/**
 * @param {any} connection
 * @param {{ session?: FakeSession, config?: unknown, context?: import("../fakes/host.js").FakeContextOptions }} [options]
 */
export function sessionRig(connection, options = {}) {
  const deps = fakeDeps(connection, options.config === undefined ? {} : { config: options.config });
  /** @type {Map<string, any>} */
  const tools = new Map();
  for (const spec of [session, trackerStart, trackerUpdate, trackerResult]) {
    for (const tool of toolDefinitions(deps, spec)) {
      assert.deepEqual(schemaViolations(tool["output"].schema), []);
      assert.deepEqual(schemaViolations(tool["parameters"]), []);
      tools.set(tool["name"], tool);
    }
  }
  let calls = 0;
  const rig = {
    session: options.session ?? new FakeSession(),
    tools,
    deps,
    /** Begins a call without executing it. @param {string} name @param {any} args @param {string} [id] @returns {string} */
    begin(name, args, id = `call-${++calls}`) {
      rig.session.call(id, name, args);
      return id;
    },
    /**
     * @param {string} name @param {any} args
     * @param {{ id?: string, nested?: string, signal?: AbortSignal }} [how] `id`: of a call that has begun; `nested`: of a
     * program's call
     * @returns {Promise<{ value: any, text: string, isError: boolean }>}
     */
    async call(name, args, { id, nested, signal = new AbortController().signal } = {}) {
      const callId = nested ?? id ?? rig.begin(name, args);
      deps.ctx = fakeContext({ sessions: [rig.session], ...options.context });
      const tool = tools.get(name);
      let value = null;
      let text;
      let isError = false;
      try {
        value = await tool.execute(Object.freeze(args), {
          signal,
          callId,
          name,
          agent: new FakeAgent(rig.session),
        });
        assert.deepEqual(valueViolations(tool.output.schema, value), []);
        text = tool.output.render(args, value)[0].text;
        assert.ok(text.split("\n").length <= 60, "at most 60 lines");
        assert.equal(typeof tool.output.presentationMeta(args, value).headline, "string");
      } catch (error) {
        isError = true;
        text = `Error: ${/** @type {Error} */ (error).message}`;
      }
      if (nested === undefined) rig.session.result(callId, text, { isError });
      else rig.session.dispatched(nested, text, { isError });
      return { value, text, isError };
    },
  };
  return rig;
}
