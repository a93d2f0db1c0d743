/**
 * Runs every benchmark in a process of its own and prints one table: `deno task bench`. Arguments are passed on
 * (`--long` lets the memory of the server be watched for 5 minutes instead of 30 seconds).
 *
 * @module
 */
import { type BenchRow, row, table } from "./harness.ts";

const BENCHES = ["decode", "prompt", "rating", "tokens", "server", "cold_start"];

const rows: BenchRow[] = [];
for (const name of BENCHES) {
  const file = new URL(`./${name}.ts`, import.meta.url);
  console.error(`bench/${name}.ts …`);
  rows.push(...await runFile(name, file));
}
console.log(table(rows));
const missed = rows.filter((r) => r.ok === false);
if (missed.length > 0) {
  console.log(`\n${missed.length} of ${rows.length} lines missed their target or could not be measured.`);
  Deno.exitCode = 1;
}

async function runFile(name: string, file: URL): Promise<readonly BenchRow[]> {
  try {
    await Deno.stat(file);
  } catch {
    return [failed(name, "MISSING: the file isn't there")];
  }
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--v8-flags=--expose-gc", file.href, "--json", ...Deno.args],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  try {
    return JSON.parse(new TextDecoder().decode(stdout).trim().split("\n").at(-1) ?? "");
  } catch {
    return [failed(name, "FAILED: it printed no figures; its error stands above the table")];
  }
}

/** A line that keeps no target whatever it is. */
function failed(name: string, note: string): BenchRow {
  return row(`bench/${name}.ts`, null, "", { atLeast: 0 }, note);
}
