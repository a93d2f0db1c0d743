/**
 * What a judged call costs at the very least: `fetch` the same request and `JSON.parse` the same answer, in a process
 * of its own. `deno run -A bench/bare_loop.ts URL CALLS CONCURRENCY`, the request's body on standard input; prints the
 * CPU time per call in milliseconds.
 *
 * @module
 */
import { cpuMs } from "./process.ts";

const [url, calls, concurrency] = Deno.args as [string, string, string];
const body = await new Response(Deno.stdin.readable).text();

async function run(count: number): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: Number(concurrency) }, async () => {
      while (left-- > 0) {
        const response = await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        const answer = JSON.parse(await response.text());
        if (answer.choices.length !== 1) throw new Error("not the stub's answer");
      }
    }),
  );
}

await run(Math.ceil(Number(calls) / 3));
const before = cpuMs(Deno.pid);
await run(Number(calls));
console.log((cpuMs(Deno.pid) - before) / Number(calls));
