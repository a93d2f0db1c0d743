/**
 * A store behind a `fetch`: the Worker talks to its Durable Object this way, and the tests to a Worker.
 *
 * One request is one operation: `GET`, `PUT` or `DELETE /entry?key=…`, `GET /keys?prefix=…`, `POST /commit`. Values are
 * bodies; that of a commit is a line of JSON that says what is written, then the values one after the other.
 *
 * @module
 */
import { checkCommit, keyBytes, lifetime, pageSize, prefixBytes } from "./keys.ts";
import { type PutOptions, type Store, StoreError, type Write } from "./store.ts";

const VERSION = "x-store-version";

/** Answers store requests from `store`. Never throws: what went wrong is the answer's status and text. */
export function storeHandler(store: Store): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      return await answer(store, request);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return new Response(message, { status: error instanceof RangeError ? 400 : 503 });
    }
  };
}

async function answer(store: Store, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const text = (name: string) => url.searchParams.get(name) ?? undefined;
  const number = (name: string) => text(name) === undefined ? undefined : Number(text(name));
  if (url.pathname === "/keys" && request.method === "GET") {
    return Response.json(
      await store.list(text("prefix") ?? "", present({ cursor: text("cursor"), limit: number("limit") })),
    );
  }
  if (url.pathname === "/commit" && request.method === "POST") {
    const writes = readCommit(new Uint8Array(await request.arrayBuffer()));
    return Response.json({ held: await store.commit(writes) });
  }
  if (url.pathname !== "/entry") return new Response(`no such path: ${url.pathname}`, { status: 404 });
  const key = text("key") ?? "";
  switch (request.method) {
    case "GET": {
      const entry = await store.get(key);
      if (entry === null) return new Response(null, { status: 204 });
      return new Response(entry.value as Uint8Array<ArrayBuffer>, { headers: { [VERSION]: entry.version } });
    }
    case "PUT": {
      const ifVersion = url.searchParams.has("absent") ? null : text("version");
      const value = new Uint8Array(await request.arrayBuffer());
      const version = await store.put(key, value, present({ ifVersion, expiresInMs: number("expiresInMs") }));
      return Response.json({ version });
    }
    case "DELETE":
      return Response.json({ held: await store.delete(key, present({ ifVersion: text("version") })) });
    default:
      return new Response(`no such method: ${request.method}`, { status: 405 });
  }
}

/** A write as a commit's first line tells it; `bytes` is `null` where the key is removed. */
interface Told extends PutOptions {
  readonly key: string;
  readonly bytes: number | null;
}

const LINE_FEED = 10;

function commitBody(writes: readonly Write[]): Uint8Array {
  const told = writes.map(({ value, ...rest }): Told => ({ ...rest, bytes: value?.length ?? null }));
  const head = new TextEncoder().encode(`${JSON.stringify(told)}\n`);
  const body = new Uint8Array(told.reduce((sum, { bytes }) => sum + (bytes ?? 0), head.length));
  body.set(head);
  let at = head.length;
  for (const { value } of writes) {
    if (value === null) continue;
    body.set(value, at);
    at += value.length;
  }
  return body;
}

/** @throws {RangeError} for a body that {@linkcode commitBody} didn't make */
function readCommit(body: Uint8Array): readonly Write[] {
  let at = body.indexOf(LINE_FEED) + 1;
  let told: readonly Told[];
  try {
    told = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body.subarray(0, at)));
  } catch {
    throw new RangeError("Cannot read the commit: its first line isn't JSON");
  }
  const writes = told.map(({ bytes, ...rest }): Write => {
    if (bytes === null) return { ...rest, value: null };
    return { ...rest, value: body.subarray(at, at += bytes) };
  });
  if (at !== body.length) {
    throw new RangeError(`Cannot read the commit: it has ${body.length} bytes and tells of ${at}`);
  }
  return writes;
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The same object without its undefined fields. */
function present<T extends Record<string, unknown>>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

/**
 * A store that sends its operations to a `storeHandler`.
 * @param send sends one request; the origin of the URL is `http://store`
 */
export function fetchedStore(kind: string, send: (request: Request) => Promise<Response>): Store {
  async function ask(
    method: string,
    path: string,
    fields: Record<string, string | number | undefined>,
    body?: Uint8Array,
  ) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) query.set(name, String(value));
    }
    let response: Response;
    try {
      const init = body === undefined ? { method } : { method, body: body as Uint8Array<ArrayBuffer> };
      response = await send(new Request(`http://store${path}?${query}`, init));
      if (response.ok) return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
    } catch (error) {
      throw new StoreError(`the store did not answer: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
    const message = await response.text().catch(() => "");
    if (response.status === 400) throw new RangeError(message);
    throw new StoreError(message || `the store answered ${response.status}`);
  }
  const parse = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));

  return {
    kind,
    async get(key) {
      keyBytes(key);
      const { response, bytes } = await ask("GET", "/entry", { key });
      const version = response.headers.get(VERSION);
      return version === null ? null : { key, value: bytes, version };
    },
    async put(key, value, options = {}) {
      keyBytes(key);
      lifetime(options.expiresInMs);
      const condition = options.ifVersion === null ? { absent: 1 } : { version: options.ifVersion };
      const { bytes } = await ask(
        "PUT",
        "/entry",
        { key, ...condition, expiresInMs: options.expiresInMs },
        value,
      );
      return parse(bytes).version;
    },
    async delete(key, options = {}) {
      keyBytes(key);
      return parse((await ask("DELETE", "/entry", { key, version: options.ifVersion })).bytes).held;
    },
    async commit(writes) {
      checkCommit(writes);
      for (const { key, expiresInMs } of writes) {
        keyBytes(key);
        lifetime(expiresInMs);
      }
      return parse((await ask("POST", "/commit", {}, commitBody(writes))).bytes).held;
    },
    async list(prefix, options = {}) {
      prefixBytes(prefix);
      pageSize(options.limit);
      return parse(
        (await ask("GET", "/keys", { prefix, cursor: options.cursor, limit: options.limit })).bytes,
      );
    },
    close: () => Promise.resolve(),
  };
}
