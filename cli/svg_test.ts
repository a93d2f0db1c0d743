import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { UsageError } from "./io.ts";
import { barsSvg, checkSvg, curveSvg, writeSvg } from "./svg.ts";
import { fakeBackend, runCaptured, TRACK } from "./testing.ts";

const point = (step: number, score: number | null, standardError: number | null = null) => (
  { step, score, standardError, scored: score === null ? 0 : 1, unscored: score === null ? 1 : 0 }
);

Deno.test("curveSvg() breaks the line at a checkpoint without a score and draws one point per score", () => {
  const svg = curveSvg("run", [point(1, 0), point(2, 0.5, 0.1), point(3, null), point(4, 1)]);
  assertEquals(svg.match(/<circle/g)?.length, 3);
  assertEquals(/class="line" d="([^"]+)"/.exec(svg)![1]!.match(/M/g)?.length, 2);
  assertStringIncludes(svg, "step 2: 0.500");
  assert(!svg.includes("NaN"));
});

Deno.test("curveSvg() draws a single checkpoint and a curve without any score", () => {
  assert(!curveSvg("run", [point(7, 0.2)]).includes("NaN"));
  assertEquals(curveSvg("run", [point(1, null)]).includes("<path"), false);
});

Deno.test("pictures hold no markup from names", () => {
  const hostile = '<script>alert("x")</script>&\u202e\u0000';
  for (
    const svg of [
      curveSvg(hostile, [point(1, 1)]),
      barsSvg("t", [{ label: hostile, value: 0.5, note: hostile, marked: true }]),
    ]
  ) {
    assert(!svg.includes("<script"));
    assert(!svg.includes("\u202e") && !svg.includes("\u0000"));
    assert(!/&(?!#\d+;)/.test(svg));
  }
});

Deno.test("barsSvg() marks the pick and writes a dash where there is no value", () => {
  const svg = barsSvg("t", [{ label: "a", value: 0.5, note: "", marked: true }, {
    label: "b",
    value: null,
    note: "",
    marked: false,
  }]);
  assertEquals([svg.match(/class="best"/g)?.length, svg.match(/class="bar"/g)?.length], [1, 1]);
  assertStringIncludes(svg, ">–<");
});

Deno.test("a picture that can't be written is refused before anything is bought", async () => {
  const folder = await Deno.makeTempDir({ prefix: "assay-svg-" });
  try {
    const run = `${folder}/run.txt`;
    await Deno.writeTextFile(run, "did it");
    const { open, requests } = fakeBackend({ track: TRACK });
    const track = async (picture: string) =>
      await runCaptured(["track", run, "--task", "t", "--svg", picture], { open });
    for (const picture of [`${folder}/no/such.svg`, folder]) {
      const { status, err } = await track(picture);
      assertEquals([status, requests.length], [2, 0], err);
      assertStringIncludes(err, "cannot write");
    }
    await Deno.writeTextFile(`${folder}/kept.svg`, "kept");
    await checkSvg(`${folder}/kept.svg`);
    await checkSvg(`${folder}/new.svg`);
    assertEquals(await Deno.readTextFile(`${folder}/kept.svg`), "kept");
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name).sort(), ["kept.svg", "run.txt"]);
    assertEquals((await track(`${folder}/best.svg`)).status, 0);
    assertEquals(requests.length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("writeSvg() names the file that can't be written", async () => {
  await writeSvg(undefined, () => {
    throw new Error("not drawn");
  });
  await assertRejects(
    () => writeSvg("/nowhere/at/all.svg", () => ""),
    UsageError,
    "cannot write /nowhere/at/all.svg",
  );
});
