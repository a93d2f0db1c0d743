/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
/**
 * The documentation page, rendered from the OpenAPI document alone. No script, no font, no request to anywhere.
 *
 * @module
 */
import { raw } from "hono/html";
import { ERROR_STATUS, type ErrorCode } from "../verifier/errors.ts";
import type { Json, JsonObject } from "./openapi.ts";
import { PROBLEM_TITLES } from "./problem.ts";
import { Fields, Prose, SchemaBody, SchemaType } from "./docs_schema.tsx";
import { STYLE } from "./docs_style.ts";

export { STYLE };

interface Media {
  readonly schema?: JsonObject;
  readonly example?: Json;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: Json }>>;
}

interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly Json[];
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly description: string;
    readonly required: boolean;
    readonly example?: string;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Media>> }>
  >;
}

interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

interface Endpoint extends Described {
  readonly method: string;
  readonly path: string;
}

/**
 * The page as HTML.
 *
 * @param document what `openApiDocument` made
 * @param origin scheme, host and port that the examples call
 */
export function renderDocs(document: JsonObject, origin: string): string {
  const api = document as unknown as OpenApi;
  const endpoints: Endpoint[] = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ ...described, method, path }))
  );
  const groups = api.tags.map((tag) => ({
    ...tag,
    endpoints: endpoints.filter(({ tags }) => tags.includes(tag.name)),
  }));
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{api.info.title} API</title>
        <link rel="icon" href="data:," />
        <style>{raw(STYLE)}</style>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <div class="layout">
          <Navigation title={api.info.title} version={api.info.version} groups={groups} />
          <main id="main">
            <Introduction api={api} origin={origin} />
            {groups.map((group) => (
              <section>
                <h2 id={`tag-${group.name}`}>{group.name}</h2>
                <p>{group.description}</p>
                {group.endpoints.map((endpoint) => (
                  <EndpointDocs endpoint={endpoint} schemas={api.components.schemas} origin={origin} />
                ))}
              </section>
            ))}
            <LiveProgress />
            <Problems />
            <Schemas schemas={api.components.schemas} />
          </main>
        </div>
      </body>
    </html>
  );
  return `<!doctype html>${page}`;
}

function Navigation(
  { title, version, groups }: {
    title: string;
    version: string;
    groups: readonly { readonly name: string; readonly endpoints: readonly Endpoint[] }[];
  },
) {
  return (
    <nav aria-label="Contents">
      <p class="brand">
        <a href="#main">{title}</a> <span class="quiet">{version}</span>
      </p>
      {groups.map((group) => (
        <>
          <p class="group">{group.name}</p>
          <ul>
            {group.endpoints.map((endpoint) => (
              <li>
                <a href={`#${endpoint.operationId}`}>
                  <span class={`verb ${endpoint.method}`}>{endpoint.method.toUpperCase()}</span>{" "}
                  {endpoint.path}
                </a>
              </li>
            ))}
          </ul>
        </>
      ))}
      <p class="group">Reference</p>
      <ul>
        <li>
          <a href="#events">Live progress</a>
        </li>
        <li>
          <a href="#problems">Problems</a>
        </li>
        <li>
          <a href="#schemas">Schemas</a>
        </li>
        <li>
          <a href="/openapi.json">OpenAPI document</a>
        </li>
      </ul>
    </nav>
  );
}

function Introduction({ api, origin }: { api: OpenApi; origin: string }) {
  return (
    <header>
      <h1>{api.info.title} API</h1>
      <p>
        Assay grades the work of AI agents on a 20-letter scale and reads the <em>distribution</em>{" "}
        over the letters, not the one letter that was sampled. {api.info.description}
      </p>
      <h2 id="start">Start</h2>
      <p>Without any key, the built-in judge answers:</p>
      <Code
        text={curl(origin, "post", "/v1/compare", {
          task: "Say hello",
          a: "[Command] echo hello\n[Output]\nhello",
          b: "I said hello.",
        })}
      />
      <h2 id="authentication">Authentication</h2>
      <p>
        A server without tokens answers its own machine only. With tokens (<code>ASSAY_TOKEN</code>, or{" "}
        <code>server.tokens</code> in the configuration) every call of the API carries one:{" "}
        <code>Authorization: Bearer &lt;token&gt;</code>. Health checks and these documents need none.
      </p>
    </header>
  );
}

function EndpointDocs(
  { endpoint, schemas, origin }: {
    endpoint: Endpoint;
    schemas: Readonly<Record<string, JsonObject>>;
    origin: string;
  },
) {
  const body = endpoint.requestBody?.content["application/json"];
  const bodySchema = body?.schema === undefined ? undefined : resolve(body.schema, schemas);
  const parameters = endpoint.parameters.filter(({ name }) => name !== "X-Request-Id");
  const path = parameters.reduce(
    (text, { name, example }) => text.replace(`{${name}}`, example ?? name),
    endpoint.path,
  );
  const examples = Object.values(body?.examples ?? { only: { summary: "", value: null } });
  return (
    <article>
      <h3 id={endpoint.operationId}>
        <a href={`#${endpoint.operationId}`}>
          <span class={`verb ${endpoint.method}`}>{endpoint.method.toUpperCase()}</span>{" "}
          <code>{endpoint.path}</code>
        </a>
      </h3>
      <p class="summary">{endpoint.summary}</p>
      <p>
        <Prose text={endpoint.description} />
        {endpoint.security?.length === 0 && <span class="quiet">Needs no token.</span>}
      </p>
      {parameters.length > 0 && (
        <Fields
          caption="Parameters"
          rows={parameters.map(({ name, description, required }) => ({
            name,
            ...(required ? { mark: "required" as const } : {}),
            type: "string",
            description,
          }))}
        />
      )}
      {examples.map(({ summary, value }) => (
        <>
          {summary !== "" && <p class="label">{summary}</p>}
          <Code text={curl(origin, endpoint.method, path, value)} />
        </>
      ))}
      {bodySchema !== undefined && <SchemaBody schema={bodySchema} caption="Body" mark="required" />}
      {Object.entries(endpoint.responses).filter(([status]) => status < "400").map(([status, response]) => (
        <>
          <p class="label">
            {status}: <Prose text={response.description} />
            {Object.entries(response.content ?? {}).map(([, media]) => (
              typeof media.schema?.$ref === "string" && (
                <>
                  {" "}
                  <SchemaType schema={media.schema} />
                </>
              )
            ))}
          </p>
          {Object.entries(response.content ?? {}).map(([type, { example }]) => (
            example !== undefined && (
              <details>
                <summary>
                  Example, <code>{type}</code>
                </summary>
                <Code text={typeof example === "string" ? example : JSON.stringify(example, null, 2)} />
              </details>
            )
          ))}
        </>
      ))}
      <p class="quiet problems">
        Problems: {problemCodes(endpoint).map((code, i) => (
          <>
            {i > 0 && ", "}
            <a href={`#problem-${code}`}>{code}</a>
          </>
        ))}
      </p>
    </article>
  );
}

function problemCodes(endpoint: Endpoint): readonly string[] {
  return Object.entries(endpoint.responses).filter(([status]) => status >= "400")
    .flatMap(([, { description }]) => [...description.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ""));
}

function LiveProgress() {
  return (
    <section>
      <h2 id="events">Live progress</h2>
      <p>
        Send <code>Accept: text/event-stream</code>{" "}
        to a verb, and the answer is a stream of server-sent events. Each has an <code>id</code> and JSON in
        {" "}
        <code>data</code>. A comment comes after ten seconds of silence. When you close the connection, every
        open call to a judge is aborted.
      </p>
      <Fields
        caption="Events"
        rows={[
          { name: "plan", type: ["PlanResult"], description: "What will be bought. Comes once, first." },
          { name: "call", type: ["CallEvent"], description: "One judged call is done." },
          { name: "pair", type: ["PairEvent"], description: "One pair of a select has its verdict." },
          {
            name: "checkpoint",
            type: ["CheckpointEvent"],
            description: "One checkpoint of a track has its score.",
          },
          {
            name: "draft",
            type: ["DraftEvent"],
            description: "One draft of a best-of-N is written, or has failed.",
          },
          {
            name: "result",
            type: ["CompareResult", "SelectResult", "TrackResult", "GateResult", "BestOfNResult"],
            description: "The last event: the same document as without streaming.",
          },
          {
            name: "problem",
            type: ["Problem"],
            description: "The last event instead, when the work failed.",
          },
        ].map(({ type, ...row }) => ({
          ...row,
          type: (
            <>
              {type.map((name, i) => (
                <>
                  {i > 0 && " or "}
                  <a href={`#schema-${name}`}>{name}</a>
                </>
              ))}
            </>
          ),
        }))}
      />
    </section>
  );
}

function Problems() {
  return (
    <section>
      <h2 id="problems">Problems</h2>
      <p>
        Every answer that isn't a success is an <code>application/problem+json</code> document (
        <a href="#schema-Problem">Problem</a>). Its <code>code</code> is stable; <code>errors</code>{" "}
        names the faulty fields by JSON pointer.
      </p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">Status</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {(Object.keys(ERROR_STATUS) as ErrorCode[]).map((code) => (
              <tr id={`problem-${code}`}>
                <td>
                  <code>{code}</code>
                </td>
                <td>{ERROR_STATUS[code]}</td>
                <td>{PROBLEM_TITLES[code]}.</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Schemas({ schemas }: { schemas: Readonly<Record<string, JsonObject>> }) {
  return (
    <section>
      <h2 id="schemas">Schemas</h2>
      {Object.entries(schemas).map(([name, schema]) => (
        <article>
          <h3 id={`schema-${name}`}>
            <a href={`#schema-${name}`}>{name}</a>
          </h3>
          {typeof schema.description === "string" && (
            <p>
              <Prose text={schema.description} />
            </p>
          )}
          <SchemaBody
            schema={schema}
            caption={`Fields of ${name}`}
            mark={/Request$|^Trajectory$|^Criteria$/.test(name) ? "required" : "optional"}
          />
        </article>
      ))}
    </section>
  );
}

function Code({ text }: { text: string }) {
  return <pre tabindex={0}><code>{text}</code></pre>;
}

function resolve(schema: JsonObject, schemas: Readonly<Record<string, JsonObject>>): JsonObject {
  if (typeof schema.$ref !== "string") return schema;
  return schemas[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)] ?? schema;
}

/** A command for a POSIX shell. */
function curl(origin: string, method: string, path: string, body: Json): string {
  const address = `curl ${origin}${path}`;
  if (method === "get") return address;
  const quoted = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return `${address} \\\n  -H 'Content-Type: application/json' \\\n  -d '${quoted}'`;
}
