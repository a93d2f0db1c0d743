/**
 * The package as it is published: packed by npm, unpacked into a profile, run by the host with the server that it
 * carries.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { inherited } from "./assay.ts";
import { toolOutcomes } from "./log.ts";
import { startModel } from "./model.ts";
import { npxFolder, untilGone } from "./npx.ts";
import { pluginPackage, unpackPlugin } from "./plugin.ts";
import { createScene, hostTest } from "./scene.ts";
import { freePort } from "../free_port.ts";

/** What a program may need to reach a package registry. */
const NETWORK = [
  ...["DENO_CERT", "DENO_TLS_CA_STORE", "NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR", "SSL_CERT_FILE"],
  ...[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NPM_CONFIG_REGISTRY",
  ],
];

hostTest(
  "the packed tarball holds what the package lists, and starts its own server in the host",
  async (host) => {
    const folder = await Deno.makeTempDir({ prefix: "assay-npx-" });
    try {
      const npx = await npxFolder(folder);
      const url = `http://127.0.0.1:${freePort()}`;
      const compare = {
        name: "verifier_compare",
        arguments: { task: "Say hello", a: "$ echo hello\nhello", b: "-" },
      };
      await using model = startModel([{ calls: [compare] }, { text: "Done." }]);
      let names: readonly string[] = [];
      await using scene = await createScene(host, {
        model,
        server: { url },
        settings: "assay:\n  autostart: true\n",
        plugin: async (target, scratch) => {
          names = await unpackPlugin(target, scratch);
        },
        env: {
          // Its server's packages are fetched where a cache lacks them, by whatever way this machine needs.
          ...inherited(...NETWORK),
          ASSAY_STORE: "memory",
          PATH: `${npx.path}:${Deno.env.get("PATH")}`,
        },
      });
      const run = await scene.headless("Compare.");
      assertEquals([run.code, run.stdout, run.stderr], [0, "Done.\n", ""]);
      const [outcome] = toolOutcomes(await scene.session());
      assertEquals([outcome?.name, outcome?.isError], ["verifier_compare", false], outcome?.text);
      await untilGone(url);
      const listed = pluginPackage().files;
      const isIn = (name: string, entry: string): boolean => name === entry || name.startsWith(`${entry}/`);
      assertEquals(
        listed.filter((entry) => !names.some((name) => isIn(name, entry))),
        [],
        "missing in the tarball",
      );
      assertEquals(
        names.filter((name) => name !== "package.json" && !listed.some((entry) => isIn(name, entry))),
        [],
        "not listed, but in the tarball",
      );
      assert(!names.some((name) => /_test\.tsx?$/.test(name)), "no tests in it");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
