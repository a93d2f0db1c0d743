/** `assay version`. @module */
import config from "../deno.json" with { type: "json" };
import { coreVersion, promptVersion } from "../verifier/core.ts";
import { type Command, printJson, printLines } from "./command.ts";
import { EXIT } from "./failure.ts";
import { optionHelp } from "./options.ts";

const OPTIONS = ["json", "help"] as const;

/** `assay version`; see its help. */
export const versionCommand: Command = {
  name: "version",
  summary: "versions of Assay, its core and its prompts",
  options: OPTIONS,
  help: `Usage: deno task assay version

Options:
${optionHelp(OPTIONS)}
`,
  run: (args, io) => {
    const versions = {
      version: config.version,
      coreVersion: coreVersion(),
      promptVersion: promptVersion(),
      deno: Deno.version.deno,
    };
    if (args.flag("json")) printJson(io, versions);
    else {
      printLines(io, [
        `assay ${versions.version} (core ${versions.coreVersion}, prompts ${versions.promptVersion}, Deno ${versions.deno})`,
      ]);
    }
    return Promise.resolve(EXIT.fine);
  },
};
