/**
 * A real server whose judge is under the test's control.
 *
 * @module
 */
import { type AssayOptions, type AssayServer, startAssay } from "./assay.ts";
import {
  say,
  smart,
  startStubJudge,
  type StubCall,
  type StubJudge,
  type StubReply,
  type StubRule,
} from "../stub_judge.ts";

/**
 * Grades by the last `quality=<number>` in what it is shown, 0.05 where there is none (as for no work at all), and
 * writes drafts of rising quality when it is asked for one.
 */
export function gradesByQuality(call: StubCall): StubReply | StubRule {
  const draft = /\nDraft (\d+) of \d+$/.exec(call.prompt)?.[1];
  return draft === undefined ? grade : say(`Draft ${draft}: quality=0.${Number(draft) * 2 + 2}`);
}

const grade = smart({
  rule: (text) => Number([...text.matchAll(/quality=(\d+(?:\.\d+)?)/g)].at(-1)?.[1] ?? 0.05),
});

/** A server and its judge. */
export interface JudgedServer extends AssayServer {
  readonly judge: StubJudge;
}

/** Starts a server whose default judge is a stub; `evidence` is there too. */
export async function startJudged(
  script: StubRule = gradesByQuality,
  options: Omit<AssayOptions, "config"> & { readonly readsImages?: boolean } = {},
): Promise<JudgedServer> {
  const judge = startStubJudge(script);
  try {
    const config = {
      defaultJudge: "stub",
      judges: {
        stub: judge.profile({ retries: 0, images: options.readsImages ?? false }),
        evidence: { kind: "evidence" },
      },
      ...(options.token === undefined
        ? {}
        : { server: { tokens: [{ name: "tests", tokenEnv: "ASSAY_TOKEN" }] } }),
    };
    const server = await startAssay({ ...options, config });
    return {
      ...server,
      judge,
      async [Symbol.asyncDispose]() {
        await server.stop();
        await judge.close();
      },
    };
  } catch (error) {
    await judge.close();
    throw error;
  }
}
