/**
 * What was learnt about a server while talking to it, remembered for 24 hours per profile and model.
 *
 * @module
 */
import type { Store } from "../../store/store.ts";

/** What a server was found to refuse or to limit. Absent means: nothing known, so ask for it. */
export interface Capabilities {
  /** False: asking for log-probabilities is refused. */
  readonly logprobs?: boolean;
  /** False: asked for twice in a row, answered without. Still asked for, as it costs nothing. */
  readonly logprobsReturned?: boolean;
  /** Most alternatives per token. */
  readonly topLogprobs?: number;
  /** False: the family's thinking switch is refused. */
  readonly thinking?: boolean;
  /** False: an assistant message can't be continued. */
  readonly continuation?: boolean;
  /** False: the constraint on the continued token is refused; it goes without. */
  readonly constraint?: boolean;
  readonly stream?: boolean;
  readonly streamOptions?: boolean;
  /** Whether the limit is called `max_completion_tokens`. */
  readonly completionTokens?: boolean;
  /** False: a sampling temperature is refused (only ever left out when it is the server's default, 1). */
  readonly temperature?: boolean;
}

/** Name of one capability. */
export type Capability = keyof Capabilities;

/** How long a lesson holds. */
export const CAPABILITY_LIFETIME_MS = 24 * 3_600_000;
/** How long one process believes its own copy before it looks again. */
const REFRESH_MS = 60_000;
const MAXIMUM_REMEMBERED = 1000;

type Lesson = { readonly value: boolean | number; readonly at: number };
type Lessons = Readonly<Partial<Record<Capability, Lesson>>>;

/** Remembers lessons in a store, shared by all processes on it. */
export interface CapabilityMemory {
  /** What is known about a profile's model at this address. Never fails: without its store it knows less. */
  recall(subject: Subject): Promise<Capabilities>;
  /** The same from this process's copy alone, for status pages. */
  peek(subject: Subject): Capabilities;
  learn<K extends Capability>(subject: Subject, name: K, value: NonNullable<Capabilities[K]>): Promise<void>;
  /** Takes one lesson back. */
  unlearn(subject: Subject, name: Capability): Promise<void>;
  /** Forgets all models of a profile. */
  forget(profile: string): Promise<void>;
}

/** Whom a lesson is about. */
export interface Subject {
  readonly profile: string;
  readonly baseUrl: string;
  readonly model: string;
}

/** Options of {@link createCapabilityMemory}. */
export interface CapabilityOptions {
  /** Without one, lessons last as long as the process. */
  readonly store?: Store;
  readonly now?: () => number;
  /** Hears that the store failed; the lesson then holds in this process only. */
  readonly onWarning?: (message: string) => void;
}

/** A memory over `options.store`; keys are `capability/<profile>/<hash of address and model>`. */
export function createCapabilityMemory(options: CapabilityOptions = {}): CapabilityMemory {
  const { store, onWarning = () => {} } = options;
  const now = options.now ?? (() => Date.now());
  const copies = new Map<string, { lessons: Lessons; readAt: number }>();
  const keys = new Map<string, string>();

  async function keyOf(subject: Subject): Promise<string> {
    const name = local(subject);
    let key = keys.get(name);
    if (key === undefined) {
      key = `${prefixOf(subject.profile)}${await sha256(`${subject.baseUrl}\n${subject.model}`)}`;
      if (keys.size >= MAXIMUM_REMEMBERED) keys.clear();
      keys.set(name, key);
    }
    return key;
  }

  async function read(subject: Subject): Promise<{ lessons: Lessons; version: string | null }> {
    const entry = await store?.get(await keyOf(subject));
    return entry ? { lessons: decode(entry.value), version: entry.version } : { lessons: {}, version: null };
  }

  function remember(subject: Subject, lessons: Lessons): void {
    if (copies.size >= MAXIMUM_REMEMBERED) copies.delete(copies.keys().next().value ?? "");
    copies.set(local(subject), { lessons, readAt: now() });
  }

  async function change(subject: Subject, apply: (lessons: Lessons) => Lessons): Promise<void> {
    remember(subject, apply(copies.get(local(subject))?.lessons ?? {}));
    if (store === undefined) return;
    try {
      // Two processes may learn different things at once; both lessons must survive.
      for (let attempt = 0; attempt < 5; attempt++) {
        const { lessons, version } = await read(subject);
        const changed = apply(lessons);
        const written = await store.put(await keyOf(subject), encode(changed), {
          ifVersion: version,
          expiresInMs: CAPABILITY_LIFETIME_MS,
        });
        if (written !== null) return remember(subject, changed);
      }
    } catch (error) {
      onWarning(`Cannot store what was learnt about judge ${subject.profile}: ${(error as Error).message}`);
    }
  }

  return {
    async recall(subject) {
      const copy = copies.get(local(subject));
      if (store !== undefined && (copy === undefined || now() - copy.readAt > REFRESH_MS)) {
        try {
          remember(subject, (await read(subject)).lessons);
        } catch (error) {
          onWarning(
            `Cannot read what was learnt about judge ${subject.profile}: ${(error as Error).message}`,
          );
        }
      }
      return current(copies.get(local(subject))?.lessons, now());
    },
    peek: (subject) => current(copies.get(local(subject))?.lessons, now()),
    async learn(subject, name, value) {
      const known = copies.get(local(subject))?.lessons[name];
      // Sixteen calls in flight are refused at once; the first one's lesson is enough.
      if (known?.value === value && now() - known.at < REFRESH_MS) return;
      await change(subject, (lessons) => ({ ...lessons, [name]: { value, at: now() } }));
    },
    unlearn: (subject, name) =>
      change(subject, (lessons) => {
        const { [name]: _, ...rest } = lessons;
        return rest;
      }),
    async forget(profile) {
      for (const name of copies.keys()) if (name.startsWith(`${profile}\n`)) copies.delete(name);
      if (store === undefined) return;
      let cursor: string | null = null;
      do {
        const page: { readonly keys: readonly string[]; readonly cursor: string | null } = await store.list(
          prefixOf(profile),
          cursor === null ? {} : { cursor },
        );
        for (const key of page.keys) await store.delete(key);
        cursor = page.cursor;
      } while (cursor !== null);
    },
  };
}

function local(subject: Subject): string {
  return `${subject.profile}\n${subject.baseUrl}\n${subject.model}`;
}

function prefixOf(profile: string): string {
  return `capability/${profile}/`;
}

function current(lessons: Lessons | undefined, now: number): Capabilities {
  const known: Record<string, boolean | number> = {};
  for (const [name, lesson] of Object.entries(lessons ?? {})) {
    if (now - lesson.at < CAPABILITY_LIFETIME_MS) known[name] = lesson.value;
  }
  return known;
}

function encode(lessons: Lessons): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(lessons));
}

// A record that can't be read is the same as none: the lesson is learnt again at the price of one refused request.
function decode(bytes: Uint8Array): Lessons {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return {};
  }
  if (typeof value !== "object" || value === null) return {};
  const lessons: Record<string, Lesson> = {};
  for (const [name, lesson] of Object.entries(value as Record<string, Partial<Lesson> | null>)) {
    const known = lesson?.value;
    if ((typeof known === "boolean" || typeof known === "number") && typeof lesson?.at === "number") {
      lessons[name] = { value: known, at: lesson.at };
    }
  }
  return lessons;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
