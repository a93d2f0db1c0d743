// @ts-check
/**
 * Runs a tool as the host does: through its definition, with the result checked against the declared schema.
 *
 * @module
 */
import assert from "node:assert/strict";
import { toolDefinitions } from "../../lib/tools/register.js";
import { fakeDeps, fakeExecution } from "../fakes/deps.js";
import { schemaViolations, valueViolations } from "../fakes/host_schema.js";
import { fakeConnection } from "../fakes/server.js";

/**
 * @param {import("../../lib/tools/register.js").ToolSpec} spec
 * @param {Readonly<Record<string, unknown>>} answers of the fake server
 * @param {{ config?: unknown, environment?: Record<string, string>, execution?: any, autostart?: any, gate?: any }} [options]
 */
export function rig(spec, answers, { execution, autostart, gate, ...options } = {}) {
  const connection = fakeConnection(answers);
  const deps = {
    ...fakeDeps(connection, options),
    ...(autostart === undefined ? {} : { autostart }),
    ...(gate === undefined ? {} : { gate }),
  };
  const [tool] = /** @type {[any]} */ (/** @type {unknown} */ (toolDefinitions(
    deps,
    spec,
  )));
  assert.deepEqual(schemaViolations(tool.output.schema), []);
  assert.deepEqual(schemaViolations(tool.parameters), []);
  return {
    connection,
    deps,
    tool,
    /** Value and text of a call that must succeed. @param {any} args */
    async call(args) {
      const value = await tool.execute(
        Object.freeze(args),
        execution ?? fakeExecution(),
      );
      assert.deepEqual(valueViolations(tool.output.schema, value), []);
      const [block] = tool.output.render(args, value);
      const meta = tool.output.presentationMeta(args, value);
      assert.ok(block.text.split("\n").length <= 60, "at most 60 lines");
      return {
        value,
        text: block.text,
        meta,
        sent: connection.seen.at(-1)?.body,
      };
    },
    /** A call that must fail. @param {any} args @param {any} expected of `assert.rejects` */
    fails: (args, expected) =>
      assert.rejects(
        tool.execute(args, execution ?? fakeExecution()),
        expected,
      ),
  };
}
