/**
 * The documentation page in a real browser: it renders without any script or network, says nothing to the console, and
 * has a light and a dark face. Needs Debian's `chromium`; skipped, visibly, where it is absent.
 *
 * @module
 */
import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { CHROMIUM, missingChromium, QUIET } from "./page.ts";
import { startServer } from "./server.ts";

const root = fromFileUrl(new URL("../../", import.meta.url));
const missing = missingChromium !== null;

async function chromium(args: readonly string[], url: string): Promise<{ dom: string; log: string }> {
  const profile = await Deno.makeTempDir({ prefix: "assay-chromium-" });
  try {
    const { stdout, stderr } = await new Deno.Command(CHROMIUM, {
      args: [
        "--headless",
        ...QUIET,
        "--enable-logging=stderr",
        `--user-data-dir=${profile}`,
        ...args,
        url,
      ],
      stdout: "piped",
      stderr: "piped",
    }).output();
    const decoder = new TextDecoder();
    return { dom: decoder.decode(stdout), log: decoder.decode(stderr) };
  } finally {
    await Deno.remove(profile, { recursive: true });
  }
}

Deno.test({
  name: `the docs page renders in Chromium, light and dark${
    missing ? " (skipped: no /usr/bin/chromium)" : ""
  }`,
  ignore: missing,
  fn: async () => {
    await using server = await startServer(root);
    const { dom, log } = await chromium(["--dump-dom"], `${server.url}/docs`);
    for (const text of ["Assay API", "/v1/compare", "/v1/decisions/{id}/replay", "Idempotency-Key"]) {
      assertStringIncludes(dom, text);
    }
    assert(
      !/<script|https?:\/\/(?!127\.0\.0\.1|localhost|example\.)[a-z]/i.test(loaded(dom)),
      "loads nothing else",
    );
    assertEquals(log.split("\n").filter((line) => line.includes("CONSOLE")), []);

    const folder = await Deno.makeTempDir({ prefix: "assay-screens-" });
    try {
      const shot = async (name: string, scheme: number): Promise<Uint8Array> => {
        const file = join(folder, `${name}.png`);
        await chromium([
          `--screenshot=${file}`,
          "--window-size=1280,900",
          `--blink-settings=preferredColorScheme=${scheme}`,
        ], `${server.url}/docs`);
        return await Deno.readFile(file);
      };
      const [dark, light] = [await shot("dark", 0), await shot("light", 1)];
      assert(dark.length > 10_000 && light.length > 10_000, "both show something");
      assertNotEquals(dark, light);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

/** What the page would load: scripts, styles, pictures and frames, not what it links to or prints. */
function loaded(dom: string): string {
  return [...dom.matchAll(/<(?:script|link|img|iframe)\b[^>]*>/gi)].map(([tag]) => tag).join("\n");
}
