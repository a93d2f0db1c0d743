/** Entry for `deno serve main.ts`. @module */
export default { fetch: (): Response => new Response("not built yet", { status: 503 }) };
