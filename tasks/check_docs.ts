/**
 * House rules about documentation, as a program: every exported symbol says what it is, every relative link in the
 * Markdown files leads somewhere, and the two READMEs name the same commands.
 *
 * Usage: `deno task check:docs`
 *
 * @module
 */
import { dirname, fromFileUrl, join, relative } from "@std/path";

const ROOT = fromFileUrl(new URL("..", import.meta.url));
const ROOMS = ["verifier", "store", "transcripts", "runtime", "routes", "cli", "bench", "tasks", "std"];
const faults: string[] = [];

/** The part of `deno doc --json` that is read. */
interface DocSymbol {
  readonly name: string;
  readonly declarations?: readonly {
    readonly location: { readonly filename: string; readonly line: number };
    readonly declarationKind: string;
    readonly kind: string;
    readonly jsDoc?: { readonly doc?: string; readonly tags?: readonly unknown[] };
  }[];
}

function* sources(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory && entry.name !== "__fixtures__") yield* sources(path);
    else if (/\.tsx?$/.test(entry.name) && !entry.name.endsWith("_test.ts")) yield path;
  }
}

async function checkSymbols(): Promise<void> {
  const files = ROOMS.flatMap((room) => [...sources(join(ROOT, room))]);
  files.push(join(ROOT, "app.ts"), join(ROOT, "main.ts"));
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", ...files],
    cwd: ROOT,
  }).output();
  if (code !== 0) throw new Error(`deno doc failed: ${new TextDecoder().decode(stderr)}`);
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as {
    nodes: Record<string, { symbols: readonly DocSymbol[] }>;
  };
  for (const { symbols } of Object.values(nodes)) {
    for (const { name, declarations = [] } of symbols) {
      const exported = declarations.filter((d) => d.declarationKind === "export" && d.kind !== "reference");
      const first = exported[0];
      if (first === undefined || name === "default") continue;
      if (exported.some(({ jsDoc }) => (jsDoc?.doc ?? "") !== "" || (jsDoc?.tags?.length ?? 0) > 0)) continue;
      const file = relative(ROOT, fromFileUrl(first.location.filename));
      faults.push(`${file}:${first.location.line + 1}: export ${name} has no documentation`);
    }
  }
}

function* documents(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(folder)) {
    const path = join(folder, entry.name);
    const skipped = entry.name.startsWith(".") || ["node_modules", "target", "prompts"].includes(entry.name);
    if (entry.isDirectory && !skipped) yield* documents(path);
    else if (entry.name.endsWith(".md")) yield path;
  }
}

function checkLinks(): void {
  for (const path of documents(ROOT)) {
    const text = Deno.readTextFileSync(path).replace(/^```[\s\S]*?^```/gm, "");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      try {
        Deno.statSync(join(dirname(path), target));
      } catch {
        faults.push(`${relative(ROOT, path)}: the link to ${target} leads nowhere`);
      }
    }
  }
}

function checkReadmes(): void {
  const blocks = (file: string): string[] =>
    [...Deno.readTextFileSync(join(ROOT, file)).matchAll(/^```(?:sh|json)\n([\s\S]*?)^```/gm)].map((
      [, block = ""],
    ) => block.replace(/\s*#.*$/gm, ""));
  const [english, chinese] = [blocks("README.md"), blocks("README.zh-CN.md")];
  english.forEach((block, i) => {
    if (block !== chinese[i]) {
      faults.push(`README.zh-CN.md: code block ${i + 1} differs from the one in README.md`);
    }
  });
  if (chinese.length !== english.length) {
    faults.push("README.zh-CN.md: has another number of code blocks than README.md");
  }
}

await checkSymbols();
checkLinks();
checkReadmes();
for (const fault of faults) console.error(fault);
if (faults.length > 0) {
  console.error(`${faults.length} faults in the documentation`);
  Deno.exit(1);
}
console.log("documentation: every export is described, every link leads somewhere, the READMEs agree");
