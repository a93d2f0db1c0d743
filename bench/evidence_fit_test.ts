import { assertAlmostEquals, assertEquals } from "@std/assert";
import type { FeatureName } from "../verifier/judges/evidence/features.ts";
import { EVIDENCE_WEIGHTS, type EvidenceGroup, type PairModel } from "../verifier/judges/evidence/weights.ts";
import { frozenWeights, numberTasks } from "./evidence_data.ts";
import { fitGroups, type Groups } from "./evidence_fit.ts";

const missing = await Deno.stat(new URL("../../shared/tools/evidence/features.json.gz", import.meta.url))
  .then(() => false, () => true);
const note = missing ? " (skipped: ../shared is not here)" : "";

function signsOf(model: PairModel): Groups {
  return Object.fromEntries(
    Object.entries(model.groups).map(([group, { features }]) => [
      group,
      Object.fromEntries(Object.entries(features).map(([name, [sign]]) => [name, sign!])),
    ]),
  );
}

for (const kind of ["pair", "list"] as const) {
  Deno.test({
    name: `fitGroups() gives the shipped weights of the ${kind} model on the published numbers${note}`,
    ignore: missing,
    fn: async () => {
      const model = EVIDENCE_WEIGHTS[kind];
      const groups = signsOf(model);
      const { weights, deviations } = fitGroups(await numberTasks(), groups);
      Object.keys(groups).forEach((group, i) => {
        const shipped = model.groups[group as EvidenceGroup]!;
        // Shipped with three decimals and four significant digits.
        assertAlmostEquals(weights[i]!, shipped.weight, 0.51e-3, `${group}: ${weights[i]}`);
        for (const [name, [, deviation]] of Object.entries(shipped.features)) {
          const fitted = deviations[name as FeatureName]!;
          assertAlmostEquals(fitted, deviation!, 0.51e-3 * deviation!, `${name}: ${fitted}`);
        }
      });
    },
  });
}

Deno.test({
  name: `the shipped levels, shrink and guard are the reference's own${note}`,
  ignore: missing,
  fn: async () => {
    const reference = await frozenWeights();
    for (const kind of ["pair", "list"] as const) {
      const { pass, progress, shrink, unfinished, clip } = EVIDENCE_WEIGHTS[kind];
      const { [kind]: other } = reference;
      assertEquals(
        { pass, progress, shrink, unfinished, clip },
        {
          pass: other.pass,
          progress: other.progress,
          shrink: other.shrink,
          unfinished: other.unfinished,
          clip: other.clip,
        },
      );
    }
  },
});
