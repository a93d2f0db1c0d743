// deno-lint-ignore-file jsx-key -- keys tell a client what moved; this page is rendered once, on the server
/** @jsxRuntime automatic */
/** @jsxImportSource hono/jsx */
/**
 * JSON Schemas as tables for people.
 *
 * @module
 */
import type { Child } from "hono/jsx";
import type { Json, JsonObject } from "./openapi.ts";

/** Which fields carry a mark: in a request those that must be there, in an answer those that may be missing. */
export type Mark = "required" | "optional";

/** Fields of an object schema; for anything else, what it may be. */
export function SchemaBody(
  { schema, caption, mark }: { schema: JsonObject; caption: string; mark: Mark },
): Child {
  if (isObject(schema.properties)) return <Fields caption={caption} rows={fieldRows(schema, mark)} />;
  const options = alternatives(schema);
  if (options.length > 0) {
    return (
      <ul class="alternatives">
        {options.map((option) => (
          <li>
            <SchemaType schema={option} />
            {isObject(option.properties) && <SchemaBody schema={option} caption="Fields" mark={mark} />}
          </li>
        ))}
      </ul>
    );
  }
  return (
    <p>
      <SchemaType schema={schema} />
    </p>
  );
}

/** One line of a table of fields. */
export interface Row {
  readonly name: string;
  readonly mark?: Mark;
  readonly type: Child;
  readonly description: Child;
}

function fieldRows(schema: JsonObject, mark: Mark): readonly Row[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, field]) => {
    if (!isObject(field)) return [];
    return [{
      name,
      ...(required.includes(name) === (mark === "required") ? { mark } : {}),
      type: <SchemaType schema={field} />,
      description: (
        <>
          {typeof field.description === "string" && <Prose text={field.description} />}
          <Limits schema={field} />
          <Nested schema={field} mark={mark} />
        </>
      ),
    }];
  });
}

/** The fields of an object that stands inside a field, folded. */
function Nested({ schema, mark }: { schema: JsonObject; mark: Mark }): Child {
  const inner = isObject(schema.items) ? schema.items : schema;
  const objects = [inner, ...alternatives(inner)].filter((option) => isObject(option.properties));
  return objects.map((option) => (
    <details>
      <summary>Its fields</summary>
      <Fields rows={fieldRows(option, mark)} />
    </details>
  ));
}

/** A table of fields. */
export function Fields({ caption, rows }: { caption?: string; rows: readonly Row[] }): Child {
  return (
    <div class="scroll">
      <table>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, mark, type, description }) => (
            <tr>
              <td>
                <code>{name}</code>
                {mark !== undefined && <span class={`mark ${mark}`}>{mark}</span>}
              </td>
              <td>{type}</td>
              <td>{description}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Limits({ schema }: { schema: JsonObject }): Child {
  const parts: string[] = [];
  const { minimum, maximum, minItems, maxItems } = schema;
  if (typeof minimum === "number" && minimum > Number.MIN_SAFE_INTEGER) parts.push(`at least ${minimum}`);
  if (typeof maximum === "number" && maximum < Number.MAX_SAFE_INTEGER) parts.push(`at most ${maximum}`);
  if (typeof minItems === "number" && minItems === maxItems) parts.push(`${minItems} entries`);
  else if (typeof maxItems === "number") parts.push(`at most ${maxItems} entries`);
  if (schema.default !== undefined && !(Array.isArray(schema.default) && schema.default.length === 0)) {
    parts.push(`default ${JSON.stringify(schema.default)}`);
  }
  return parts.length === 0 ? null : <span class="quiet limits">{` ${parts.join(", ")}`}</span>;
}

/** What a schema allows, in a few words, with links to named schemas. */
export function SchemaType({ schema }: { schema: JsonObject }): Child {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1);
    return <a href={`#schema-${name}`}>{name}</a>;
  }
  if (Array.isArray(schema.enum)) {
    return <Joined parts={schema.enum.map((value) => <code>{String(value)}</code>)} />;
  }
  if (schema.const !== undefined) return <code>{String(schema.const)}</code>;
  const options = alternatives(schema);
  if (options.length > 0) return <Joined parts={options.map((option) => <SchemaType schema={option} />)} />;
  if (schema.type === "array" && isObject(schema.items)) {
    return (
      <>
        array of <SchemaType schema={schema.items} />
      </>
    );
  }
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  return typeof schema.type === "string" ? schema.type : "any";
}

function Joined({ parts }: { parts: readonly Child[] }) {
  return <>{parts.map((part, i) => <>{i > 0 && " or "}{part}</>)}</>;
}

/** Text with code in backticks. */
export function Prose({ text }: { text: string }): Child {
  return <>{text.split("`").map((part, i) => i % 2 === 1 ? <code>{part}</code> : part)}</>;
}

function alternatives(schema: JsonObject): readonly JsonObject[] {
  const list = schema.anyOf ?? schema.oneOf;
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
