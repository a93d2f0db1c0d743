// @ts-check
/**
 * Ending a process with everything it started.
 *
 * @module
 */

/** @typedef {import("node:child_process").ChildProcess} ChildProcess */

/**
 * Closes the process's standard input, which a well-behaved one takes as the end; then asks its group, then kills it.
 *
 * @param {ChildProcess} child Started with `detached`, so that its pid names a group (not on Windows).
 * @param {object} [options]
 * @param {number} [options.graceMs] Time between two steps.
 * @param {(pid: number, signal: NodeJS.Signals) => void} [options.kill]
 * @returns {Promise<void>} Once it has ended, or after the last step.
 */
export async function endProcess(
  child,
  { graceMs = 3000, kill = killGroup } = {},
) {
  if (
    child.pid === undefined || child.exitCode !== null ||
    child.signalCode !== null
  ) return;
  const { pid } = child;
  /** @type {Promise<"ended">} */
  const ended = new Promise((resolve) => child.once("exit", () => resolve("ended")));
  child.stdin?.end();
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGKILL"])) {
    if (await within(ended, graceMs)) return;
    kill(pid, signal);
  }
  await within(ended, graceMs);
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function killGroup(pid, signal) {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch (error) {
    // Gone in the meantime: that's what was wanted.
    if (
      !(error instanceof Error && "code" in error && error.code === "ESRCH")
    ) throw error;
  }
}

/** @param {Promise<unknown>} promise @param {number} milliseconds @returns {Promise<boolean>} Whether it settled in time. */
async function within(promise, milliseconds) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Promise<false>} */
  const late = new Promise((resolve) => timer = setTimeout(() => resolve(false), milliseconds));
  const first = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return first;
}
