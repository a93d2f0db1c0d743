import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { AssayError } from "../verifier/errors.ts";
import { dataDirectory, findConfig, openServer, StartError, startFailure } from "./deno.ts";

/** A directory of its own for one test. */
async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "assay-start-" });
  try {
    await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const document = (judge: string) =>
  JSON.stringify({
    defaultJudge: judge,
    judges: { [judge]: { kind: "evidence" } },
    store: { kind: "memory" },
  });
const env = (variables: Record<string, string>) => (name: string) => variables[name];

Deno.test("findConfig() takes --config, then ASSAY_CONFIG, ASSAY_CONFIG_JSON, assay.config.json and the default", async () => {
  await inDirectory(async (directory) => {
    const files = { flag: `${directory}/flag.json`, variable: `${directory}/variable.json` };
    await Deno.writeTextFile(files.flag, document("flag"));
    await Deno.writeTextFile(files.variable, document("variable"));
    const variables: Record<string, string> = {
      ASSAY_CONFIG: files.variable,
      ASSAY_CONFIG_JSON: document("json"),
    };
    const chosen = async (configPath?: string) => {
      const options = { directory, env: env(variables), ...(configPath === undefined ? {} : { configPath }) };
      return (await findConfig(options)).defaultJudge;
    };
    await Deno.writeTextFile(`${directory}/assay.config.json`, `\ufeff${document("local")}`);
    assertEquals(await chosen(files.flag), "flag");
    assertEquals(await chosen(), "variable");
    delete variables.ASSAY_CONFIG;
    assertEquals(await chosen(), "json");
    delete variables.ASSAY_CONFIG_JSON;
    assertEquals(await chosen(), "local");
    await Deno.remove(`${directory}/assay.config.json`);
    assertEquals(await chosen(), "evidence");
  });
});

Deno.test("a configuration file that was named and can't be read stops the start and says who named it", async () => {
  const missing = { env: env({ ASSAY_CONFIG: "/nowhere/assay.json" }) };
  const error = await assertRejects(() => openServer(missing), StartError, "/nowhere/assay.json");
  assertStringIncludes(error.message, "ASSAY_CONFIG names");
  await assertRejects(
    () => openServer({ configPath: "/nowhere/x.json", env: env({}) }),
    StartError,
    "--config names",
  );
});

Deno.test("a store that can't be opened stops the start instead of falling back to memory", async () => {
  await inDirectory(async (directory) => {
    const path = `${directory}/missing/store.sqlite3`;
    const error = await assertRejects(
      () => openServer({ directory, env: env({ ASSAY_STORE: path }) }),
      StartError,
      `Cannot open the store ${path}`,
    );
    assertStringIncludes(error.message, "ASSAY_STORE");
    await assertRejects(() => openServer({ directory, env: env({}) }), StartError, "HOME is not set");
    const cloudflare = env({ ASSAY_CONFIG_JSON: '{"store":{"kind":"cloudflare"}}' });
    await assertRejects(() => openServer({ directory, env: cloudflare }), StartError, '"cloudflare" on Deno');
  });
});

Deno.test("a token whose variable is not set stops the start: the server must not open without it", async () => {
  const config = {
    server: { tokens: [{ name: "ci", tokenEnv: "ASSAY_TOKEN_CI" }] },
    store: { kind: "memory" },
  };
  const error = await assertRejects(
    () => openServer({ env: env({ ASSAY_CONFIG_JSON: JSON.stringify(config) }) }),
    AssayError,
    "ASSAY_TOKEN_CI",
  );
  assertStringIncludes(startFailure(error) ?? "", "/server/tokens/0/tokenEnv");
  assertEquals(startFailure(new TypeError("a bug")), null);
});

Deno.test({
  name: "the default store lies in the user's data directory, which only the user may enter",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await inDirectory(async (directory) => {
      const server = await openServer({ directory, env: env({ XDG_DATA_HOME: `${directory}/data` }) });
      try {
        assertEquals(server.environment.store.kind, "deno-kv");
        const made = await Deno.stat(`${directory}/data/assay`);
        assertEquals((made.mode ?? 0) & 0o777, 0o700);
        assert((await Deno.stat(`${directory}/data/assay/store.sqlite3`)).isFile);
        const info = {
          remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 },
          completed: Promise.resolve(),
        };
        const response = await server.fetch(
          new Request("http://127.0.0.1:8787/readyz"),
          info as Deno.ServeHandlerInfo,
        );
        assertEquals(response.status, 200);
        await response.body?.cancel();
      } finally {
        await server.close();
      }
    });
  },
});

Deno.test("dataDirectory() follows each system's custom", () => {
  assertEquals(dataDirectory("linux", env({ HOME: "/h" })), "/h/.local/share/assay");
  assertEquals(dataDirectory("linux", env({ HOME: "/h", XDG_DATA_HOME: "/x" })), "/x/assay");
  assertEquals(dataDirectory("linux", env({ HOME: "/h", XDG_DATA_HOME: "x" })), "/h/.local/share/assay");
  assertEquals(dataDirectory("darwin", env({ HOME: "/h" })), "/h/Library/Application Support/assay");
  assertEquals(dataDirectory("windows", env({ LOCALAPPDATA: "C:\\d" })), "C:\\d\\assay");
  assertEquals([dataDirectory("linux", env({})), dataDirectory("windows", env({}))], [null, null]);
});
