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
        `default-src 'none'; style-src ${source}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    },
  });
}

/** The three endpoints. `all` gives every operation of the app, these included. */
export function documentOperations(all: () => readonly Operation[]): readonly Operation[] {
  // The generators are loaded by the first request for them: a server starts faster without.
  const document = async () => (await import("./openapi.ts")).openApiDocument(all(), project.version);
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
        const { renderDocs, STYLE } = await import("./docs.tsx");
        return await htmlResponse(renderDocs(await document(), new URL(context.req.url).origin), STYLE);
      },
    },
  ];
}
