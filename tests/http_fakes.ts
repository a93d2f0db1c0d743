/**
 * A small world for tests of the HTTP layer: verbs that answer at once or as told, and an environment without a model.
 *
 * @module
 */
import { type AppOptions, createApp } from "../app.ts";
import { createMemoryStore } from "../store/memory.ts";
import { EXAMPLE_RESULT } from "../routes/examples.ts";
import type { Verbs } from "../routes/operation.ts";
import type { Environment } from "../verifier/environment.ts";
import type { JudgeRegistry, ProfileInfo } from "../verifier/judges/judge.ts";

const PROFILE: ProfileInfo = {
  name: "fake",
  kind: "evidence",
  model: "fake-1",
  family: null,
  host: null,
  hasKey: false,
  isDefault: true,
  learnt: {},
};

/** A registry that knows one profile and writes down what it was told to forget. */
export function fakeJudges(): JudgeRegistry & { readonly forgotten: string[] } {
  const forgotten: string[] = [];
  return {
    forgotten,
    defaultProfile: "fake",
    profiles: () => [PROFILE],
    resolve: () => {
      throw new Error("these tests judge nothing");
    },
    forget: (profile) => {
      forgotten.push(profile);
      return Promise.resolve();
    },
  };
}

/** An environment for verbs that don't look at it. */
export function fakeEnvironment(overrides: Partial<Environment> = {}): Environment {
  return {
    judges: fakeJudges(),
    store: createMemoryStore(),
    delimiterSecret: "secret of the tests",
    scheduler: undefined as unknown as Environment["scheduler"],
    ...overrides,
  };
}

/** Verbs that answer with the documentation's examples. */
export const exampleVerbs: Verbs = {
  compare: () => Promise.resolve(EXAMPLE_RESULT.compare),
  select: () => Promise.resolve(EXAMPLE_RESULT.select),
  track: () => Promise.resolve(EXAMPLE_RESULT.track),
};

/** Options for `createApp` with everything faked; `logged` collects the operator's lines. */
export function fakeOptions(overrides: Partial<AppOptions> = {}): AppOptions & { readonly logged: string[] } {
  const logged: string[] = [];
  return {
    logged,
    environment: fakeEnvironment(),
    verbs: exampleVerbs,
    versions: () => ({ promptVersion: "1", coreVersion: "0.1.0" }),
    runtime: { name: "test", version: null },
    tokens: [],
    log: (line) => logged.push(line),
    ...overrides,
  };
}

/** How to ask a test's app: a local caller unless told otherwise. */
export type Ask = (path: string, init?: RequestInit, remoteAddress?: string | null) => Promise<Response>;

/** An app over fakes. */
export function fakeApp(
  overrides: Partial<AppOptions> = {},
): { readonly ask: Ask; readonly logged: string[] } {
  const options = fakeOptions(overrides);
  const app = createApp(options);
  return {
    logged: options.logged,
    ask: (path, init, remoteAddress = "127.0.0.1") =>
      Promise.resolve(
        app.fetch(new Request(new URL(path, "http://127.0.0.1:8787"), init), { remoteAddress }),
      ),
  };
}

/** A POST with a JSON body. */
export function post(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

/** A valid body of `POST /v1/compare`. */
export const COMPARE = { task: "Say hello", a: "$ echo hello\nhello", b: "I did nothing." } as const;
