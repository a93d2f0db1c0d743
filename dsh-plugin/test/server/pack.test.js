// @ts-check
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { FOLDERS, isShipped, serverConfig } from "../../scripts/pack_server.js";

const checkout = fileURLToPath(new URL("../../../", import.meta.url));

/** Every file that is packed, from the checkout's root on. */
const packed = FOLDERS.flatMap((folder) =>
  readdirSync(join(checkout, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(checkout, join(entry.parentPath ?? "", entry.name)))
    .filter((file) => file.split(sep).every((part) => part !== "__fixtures__") && isShipped(file))
).concat("app.ts", "main.ts");

describe("the packed server", () => {
  test("has every file that one of its files imports", () => {
    const known = new Set([...packed, "worker.ts", "deno.json"]);
    const { imports } = JSON.parse(serverConfig());
    for (const file of packed.filter((each) => /\.tsx?$/.test(each) && !each.endsWith(".d.ts"))) {
      const source = readFileSync(join(checkout, file), "utf8");
      for (const [, target = ""] of source.matchAll(/^(?:import|export)\b[^;"]*\bfrom "([^"]+)"/gm)) {
        if (target.startsWith(".")) {
          const found = relative(checkout, resolve(checkout, dirname(file), target));
          assert.ok(known.has(found), `${file} imports ${found}, which isn't packed`);
        } else if (!/^(node|cloudflare):/.test(target)) {
          const name = Object.keys(imports).find((each) => target === each || target.startsWith(`${each}/`));
          assert.ok(name !== undefined, `${file} imports ${target}, which the packed deno.json doesn't know`);
        }
      }
    }
  });

  test("has no test, no fixture and no tool of development", () => {
    assert.ok(packed.length > 100);
    assert.deepEqual(packed.filter((file) => /_test\.ts|fixtures/.test(file)), []);
    const { tasks, imports, nodeModulesDir } = JSON.parse(serverConfig());
    assert.ok("serve" in tasks && !("test" in tasks) && !("wrangler" in imports));
    assert.equal(nodeModulesDir, "none");
    for (const file of ["deno.lock", "LICENSE"]) assert.ok(existsSync(join(checkout, file)));
  });
});
