/**
 * Measures how many UTF-8 bytes one token holds, which `verifier/plan.ts` turns bytes into estimates with: on the
 * agents' runs in `../shared/data` and on Chinese text, with the `o200k_base` vocabulary.
 *
 * It doesn't measure other vocabularies (a model's own may differ by 20 % either way), nor the time that counting takes.
 *
 * @module
 */
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { readTranscript } from "../transcripts/transcript.ts";
import { BYTES_PER_TOKEN } from "../verifier/plan.ts";
import { normalizeTrajectory } from "../verifier/trajectory.ts";
import { type BenchRow, quantile, row, runBench } from "./harness.ts";

const DATA = new URL("../../shared/data/terminal_bench_2.0/", import.meta.url);

/** Prose, an instruction and a log line, as a Chinese user's run holds them. */
const CHINESE = [
  "验证器读取候选轨迹中的证据：代理声称做了什么、实际执行了哪些命令、终端输出了什么。只有观察到的结果才算数，口头保证不算。",
  "请修复登录页面在网络断开时无限等待的问题，并为超时、重试和取消分别补充测试；不要改动公共接口，提交前运行全部检查。",
  "错误：无法连接到数据库（超时 30 秒），正在进行第 3 次重试；已完成 128 项测试，其中 2 项失败，详见日志。",
].join("\n");

function* files(directory: URL): Generator<URL> {
  for (const entry of [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1)) {
    if (entry.isDirectory) yield* files(new URL(`${entry.name}/`, directory));
    else if (entry.name.endsWith(".json")) yield new URL(entry.name, directory);
  }
}

/** A run as the judge sees it. */
function textOf(file: URL): string {
  return normalizeTrajectory(readTranscript(Deno.readFileSync(file), file.pathname).trajectory, "/a").text;
}

await runBench(() => {
  const bytesPerToken = (text: string) => new TextEncoder().encode(text).length / encode(text).length;
  const rows: BenchRow[] = [];
  try {
    Deno.statSync(DATA);
    const ratios: number[] = [];
    let bytes = 0;
    let tokens = 0;
    for (const file of files(DATA)) {
      const text = textOf(file);
      // Counting is quadratic on pathological lines, so runs are measured on their first 60,000 characters.
      const part = text.slice(0, 60_000).toWellFormed();
      const [b, n] = [
        new TextEncoder().encode(part).length,
        encode(part, { disallowedSpecial: new Set() }).length,
      ];
      if (n < 200) continue;
      ratios.push(b / n);
      bytes += b;
      tokens += n;
    }
    const spread = [0.05, 0.5, 0.95].map((at) => quantile(ratios, at).toFixed(2)).join(" / ");
    rows.push(
      row(
        "bytes per token, agents' runs",
        bytes / tokens,
        "B",
        null,
        `${ratios.length} runs, o200k; 5 %, median, 95 %: ${spread}; plans use ${BYTES_PER_TOKEN}`,
      ),
      row(
        "plan's estimate over the true count",
        bytes / BYTES_PER_TOKEN / tokens,
        "x",
        { atLeast: 0.9 },
        "above 1: plans ask for more than is used; a plan that promises too little is the worse error",
      ),
    );
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    rows.push(row("bytes per token, agents' runs", null, "B", { atLeast: 0 }, "../shared/data isn't there"));
  }
  rows.push(
    row("bytes per token, Chinese", bytesPerToken(CHINESE), "B", null, "three paragraphs in this file"),
  );
  return rows;
});
