/**
 * A DSH home of its own with the plugin in it, a workspace, and the real host run there.
 *
 * ```ts ignore
 * hostTest("the model can ask for the status", async (host) => {
 *   await using server = await startAssay();
 *   await using model = startModel([{ calls: [{ name: "verifier_status", arguments: {} }] }, { text: "Done." }]);
 *   await using scene = await createScene(host, { model, server });
 *   const run = await scene.headless("How is the verifier?");
 *   assertEquals(run.code, 0, run.stderr);
 * });
 * ```
 *
 * @module
 */
import { dirname, fromFileUrl, join } from "@std/path";
import { inherited } from "./assay.ts";
import { findHost, type Host } from "./host.ts";
import { readSessions, type SessionLog } from "./log.ts";
import type { Model } from "./model.ts";
import { type HostRun, type RunningHost, startHost } from "./process.ts";
import { copyPlugin, pluginTarget, writeProfile } from "./plugin.ts";

const found = findHost();

/** Why no scene can be played here, or null. */
export const missingHost: string | null = "missing" in found ? `no DSH host: ${found.missing}` : null;

/** A test that needs the real host; shown as ignored, with the reason, where there is none. */
export function hostTest(
  name: string,
  fn: (host: Host) => Promise<void>,
  alsoMissing: string | null = null,
): void {
  const missing = missingHost ?? alsoMissing;
  Deno.test({
    name: missing === null ? name : `${name} (skipped: ${missing})`,
    ignore: missing !== null,
    fn: () => fn(found as Host),
  });
}

/** Options of {@link createScene}. */
export interface SceneOptions {
  readonly model: Pick<Model, "url">;
  /** The server that the environment names; none: the plugin isn't told of any. */
  readonly server?: { readonly url: string };
  /** Default `headless`. */
  readonly profile?: "headless" | "web";
  /** How the plugin comes into the profile. Default: its listed files are copied. `null`: it doesn't. */
  readonly plugin?: ((target: string, scratch: string) => Promise<unknown>) | null;
  /** `$DSH_HOME/settings.yaml`. */
  readonly settings?: string;
  /** More rows of a patch, as YAML; they come last and so replace what a bundle says. */
  readonly patch?: string;
  /** More variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One thing for the driver to do; see `driver.js`. */
export type Action = { readonly do: string; readonly [name: string]: unknown };

/** A home, and what can be run in it. */
export interface Scene extends AsyncDisposable {
  readonly home: string;
  readonly workspace: string;
  /** Runs `dsh --profile headless <task>` to its end. */
  headless(task: string): Promise<HostRun>;
  /** Starts the same. */
  start(args: readonly string[]): RunningHost;
  /** Starts the host with the driver in it instead of a user. */
  startDriven(actions: readonly Action[], args?: readonly string[]): Promise<RunningHost>;
  /** Runs the driver to its end. @returns the actions' results @throws {Error} when the host didn't exit with 0 */
  // deno-lint-ignore no-explicit-any
  drive(actions: readonly Action[], args?: readonly string[]): Promise<any[]>;
  sessions(): Promise<readonly SessionLog[]>;
  /** The only session. */
  session(): Promise<SessionLog>;
}

/** A patch's row with the gate switched on; `config` is more of its row. */
export function gateOn(config: Readonly<Record<string, unknown>> = {}): string {
  return `- id: assay-verify-gate\n  config: ${JSON.stringify({ enabled: true, ...config })}\n`;
}

/** Logs as plain lines, so that they can be read here. */
const PLAIN_LOG = `
- id: session-persistence-jsonl
  config:
    root: !!js dshHomePath('sessions')
    compression: none
    packChunks: false
`;

/** Where Deno keeps what it has fetched. */
function denoDir(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/", ".cache");
  return Deno.env.get("DENO_DIR") ?? join(cache, "deno");
}

/** Makes a home. Disposing of it kills what still runs in it and removes it. */
export async function createScene(host: Host, options: SceneOptions): Promise<Scene> {
  const { profile = "headless", plugin = copyPlugin } = options;
  const folder = await Deno.makeTempDir({ prefix: "assay-host-" });
  const [home, workspace] = [join(folder, "home"), join(folder, "workspace")];
  await Deno.mkdir(workspace);
  await writeProfile(home, profile, plugin !== null);
  if (plugin !== null) await plugin(pluginTarget(home, profile), folder);
  if (options.settings !== undefined) await Deno.writeTextFile(join(home, "settings.yaml"), options.settings);
  const patch = join(folder, "patch.yml");
  await Deno.writeTextFile(patch, PLAIN_LOG + (options.patch ?? ""));
  const env = {
    // Deno's own folder for whatever a server that the plugin starts needs; everything else is of the test.
    ...inherited("LANG"),
    DENO_DIR: denoDir(),
    PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH") ?? ""}`,
    HOME: folder,
    TMPDIR: folder,
    NO_COLOR: "1",
    DSH_HOME: home,
    DEEPSEEK_BASE_URL: options.model.url,
    DEEPSEEK_API_KEY: "none",
    ...(options.server === undefined ? {} : { ASSAY_URL: options.server.url }),
    ...options.env,
  };
  const running: RunningHost[] = [];

  const start = (args: readonly string[]): RunningHost => {
    const all = ["--profile", profile, "--patch", patch, ...args];
    const started = startHost(host, all, { cwd: workspace, env });
    running.push(started);
    return started;
  };

  let drives = 0;
  const prepareDrive = async (actions: readonly Action[]) => {
    const number = ++drives;
    const [plan, out, file] = ["plan.json", "out.json", "drive.yml"].map((name) =>
      join(folder, `${number}-${name}`)
    );
    await Deno.writeTextFile(plan!, JSON.stringify(actions));
    const driver = fromFileUrl(new URL("driver.js", import.meta.url));
    const own = profile === "headless" ? "- id: headless-runner\n  disabled: true\n" : "";
    const config = `      config: ${JSON.stringify({ plan, out })}\n`;
    await Deno.writeTextFile(
      file!,
      `${own}- insert:\n    - id: assay-test-driver\n      name: ${JSON.stringify(driver)}\n${config}`,
    );
    const words = profile === "headless" ? ["driven"] : ["--no-open", "--port", "0"];
    return { out: out!, args: ["--patch", file!, ...words] };
  };

  const scene: Scene = {
    home,
    workspace,
    start,
    headless: (task) => start([task]).ended,
    async startDriven(actions, args = []) {
      const drive = await prepareDrive(actions);
      return start([...drive.args, ...args]);
    },
    async drive(actions, args = []) {
      const drive = await prepareDrive(actions);
      const run = await start([...drive.args, ...args]).ended;
      if (run.code !== 0) throw new Error(`the host ended with ${run.code}:\n${run.stderr}\n${run.stdout}`);
      return JSON.parse(await Deno.readTextFile(drive.out));
    },
    sessions: () => readSessions(home),
    async session() {
      const all = await readSessions(home);
      if (all.length !== 1) throw new Error(`expected one session, found ${all.length}`);
      return all[0]!;
    },
    async [Symbol.asyncDispose]() {
      for (const each of running) each.kill("SIGKILL");
      await Promise.all(running.map(({ ended }) => ended));
      await Deno.remove(folder, { recursive: true });
    },
  };
  return scene;
}
