/**
 * `GET /openapi.json`, `GET /docs` and `GET /`: the API's description for programs and for people.
 *
 * @module
 */
import project from "../deno.json" with { type: "json" };
import { jsonResponse } from "./answer.ts";
import type { Operation } from "./operation.ts";

/** Headers of every HTML page: no script runs, nothing is loaded, nobody may frame it. */
export async function htmlResponse(html: string, style: string): Promise<Response> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style)));
  const source = `'sha256-${btoa(String.fromCharCode(...hash))}'`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        `default-src 'none'; style-src ${source}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    },
  });
}

/** Stands in the page where this server's address comes. */
const ORIGIN = "http://assay.invalid";

/** The server's address as the caller sees it. A host's name may hold quotes, `$` and `&`: such a one isn't shown. */
function shownOrigin(url: string): string {
  const { origin } = new URL(url);
  return /^https?:\/\/[A-Za-z0-9.:[\]-]+$/.test(origin) ? origin : "http://127.0.0.1:8787";
}

/** The same promise for every call; a failure is tried again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () =>
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
}

/** The three endpoints. `all` gives every operation of the app, these included. */
export function documentOperations(all: () => readonly Operation[]): readonly Operation[] {
  // The generators are loaded by the first request for them, as a server starts faster without, and run once.
  const document = once(async () => (await import("./openapi.ts")).openApiDocument(all(), project.version));
  const page = once(async () => {
    const { renderDocs, STYLE } = await import("./docs.tsx");
    return { html: renderDocs(await document(), ORIGIN), style: STYLE };
  });
  return [
    {
      method: "get",
      path: "/",
      id: "getRoot",
      tag: "Documents",
      access: "document",
      summary: "Go to the documentation",
      description: "Redirects to `/docs`.",
      answers: [{ status: 302, description: "See `/docs`." }],
      handle: () =>
        new Response(null, { status: 302, headers: { location: "/docs", "cache-control": "no-cache" } }),
    },
    {
      method: "get",
      path: "/openapi.json",
      id: "getOpenApi",
      tag: "Documents",
      access: "document",
      summary: "This description as OpenAPI 3.1",
      description: "Generated from the schemas that requests are validated with.",
      answers: [{
        status: 200,
        description: "The document.",
        content: { "application/json": { schema: null } },
      }],
      handle: async () => jsonResponse(await document()),
    },
    {
      method: "get",
      path: "/docs",
      id: "getDocs",
      tag: "Documents",
      access: "document",
      summary: "This description as a page",
      description: "One page without scripts, fonts or anything else from elsewhere: it works offline.",
      answers: [{ status: 200, description: "The page.", content: { "text/html": { schema: null } } }],
      handle: async (context) => {
        const { html, style } = await page();
        return await htmlResponse(html.replaceAll(ORIGIN, shownOrigin(context.req.url)), style);
      },
    },
  ];
}
