/**
 * The environment variables that stand in for a configuration document.
 *
 * @module
 */
import type { Faults } from "./faults.ts";
import { FAMILIES, type Family } from "./schema.ts";

/** Reads one environment variable; an unset or empty one is `undefined` or `""`, which mean the same here. */
export type ReadEnvironment = (name: string) => string | undefined;

/** Read only where there is no document. */
export const STAND_INS: readonly string[] = [
  "ASSAY_JUDGE_BASE_URL",
  "ASSAY_JUDGE_MODEL",
  "ASSAY_JUDGE_API_KEY",
  "ASSAY_JUDGE_FAMILY",
  "ASSAY_TOKEN",
  "ASSAY_STORE",
  "ASSAY_ALLOW_REQUEST_BACKENDS",
];

/** The family that a base URL's host gives away; `generic` where it doesn't. */
export function familyOf(baseUrl: string): Family {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  if (host === "api.deepseek.com") return "deepseek";
  if (host === "api.openai.com") return "openai";
  if (host === "openrouter.ai") return "openrouter";
  return "generic";
}

/** The document that the variables spell; empty when none of them is set. */
export function documentFromEnvironment(env: ReadEnvironment, faults: Faults): Record<string, unknown> {
  const document: Record<string, unknown> = {};
  const baseUrl = env("ASSAY_JUDGE_BASE_URL");
  const model = env("ASSAY_JUDGE_MODEL");
  const family = env("ASSAY_JUDGE_FAMILY");
  const hasKey = env("ASSAY_JUDGE_API_KEY") !== undefined;
  if (baseUrl !== undefined || model !== undefined || family !== undefined || hasKey) {
    if (baseUrl === undefined) {
      faults.add(["ASSAY_JUDGE_BASE_URL"], "must be set along with the other ASSAY_JUDGE_ variables");
    }
    if (model === undefined) {
      faults.add(["ASSAY_JUDGE_MODEL"], "must be set along with the other ASSAY_JUDGE_ variables");
    }
    if (family !== undefined && !(FAMILIES as readonly string[]).includes(family)) {
      faults.add(["ASSAY_JUDGE_FAMILY"], `must be one of ${FAMILIES.join(", ")}`, family);
    } else if (baseUrl !== undefined && model !== undefined) {
      document.judges = {
        env: {
          kind: "openai-compatible",
          family: family ?? familyOf(baseUrl),
          baseUrl,
          model,
          ...(hasKey ? { apiKeyEnv: "ASSAY_JUDGE_API_KEY" } : {}),
        },
      };
      document.defaultJudge = "env";
    }
  }
  if (env("ASSAY_TOKEN") !== undefined) {
    document.server = { tokens: [{ name: "env", tokenEnv: "ASSAY_TOKEN" }] };
  }
  const store = env("ASSAY_STORE");
  if (store !== undefined) {
    document.store = store === "memory" || store === "cloudflare"
      ? { kind: store }
      : { kind: "deno-kv", path: store };
  }
  const allowed = env("ASSAY_ALLOW_REQUEST_BACKENDS");
  if (allowed !== undefined) {
    document.allowRequestBackends = allowed.split(",").map((entry) => entry.trim()).filter((entry) =>
      entry !== ""
    );
  }
  return document;
}
