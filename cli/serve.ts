/** `assay serve`: the HTTP server. @module */
import { openServer, stdinEnd } from "../runtime/deno.ts";
import { type Command } from "./command.ts";
import { EXIT } from "./failure.ts";
import { UsageError } from "./io.ts";
import { runtimeOptions } from "./local.ts";
import { type Arguments, optionHelp, type OptionName } from "./options.ts";
import { escapeText } from "./text.ts";

const OPTIONS: readonly OptionName[] = [
  "host",
  "port",
  "config",
  "store",
  "stop-with-stdin",
  "quiet",
  "help",
];

/** `assay serve`; see its help. */
export const serveCommand: Command = {
  name: "serve",
  summary: "the HTTP server, on this machine",
  options: OPTIONS,
  help: `Usage: deno task assay serve [options]

Starts the server and prints its address. Without a configured token it answers
only callers on this machine. Ctrl-C ends it. A program that starts it can pass
a pipe as standard input and --stop-with-stdin: the server then ends with that
program, also when that is killed.

Examples:
  deno task assay serve
  ASSAY_TOKEN=secret deno task assay serve --host 0.0.0.0 --port 9000

Options:
${optionHelp(OPTIONS)}
`,
  run: async (args, io) => {
    if (args.positionals.length > 0) {
      throw new UsageError(`serve takes no words: ${escapeText(args.positionals[0]!)}`);
    }
    const port = readPort(args);
    const opened = await openServer(
      runtimeOptions({ config: args.text("config"), store: args.text("store") }, io),
    );
    const stopping = new AbortController();
    try {
      const { server, judges, defaultJudge } = opened.config;
      const hostname = args.text("host") ?? server.host;
      let listener: Deno.HttpServer<Deno.NetAddr>;
      try {
        listener = Deno.serve({
          hostname,
          port: port ?? server.port,
          signal: AbortSignal.any([io.signal, stopping.signal]),
          onListen: () => {},
        }, opened.fetch);
      } catch (error) {
        throw new UsageError(
          `cannot listen on ${escapeText(hostname)}:${port ?? server.port}: ${why(error)}`,
        );
      }
      const { addr } = listener;
      const shown = addr.hostname.includes(":") ? `[${addr.hostname}]` : addr.hostname;
      io.out(`Assay listens on http://${shown}:${addr.port}\n`);
      if (!args.flag("quiet")) {
        const kind = judges[defaultJudge]?.kind;
        io.out(
          `Judge: ${escapeText(defaultJudge)}${
            kind === "evidence"
              ? " (rule-based, no model; see README for how often it is right)"
              : ` (${kind})`
          }\n`,
        );
        io.out(
          server.tokens.length === 0
            ? "No token is configured: only callers on this machine are answered.\n"
            : `Tokens: ${server.tokens.map(({ name }) => escapeText(name)).join(", ")}\n`,
        );
        io.out("Documentation: /docs. Ctrl-C ends it.\n");
      }
      if (args.flag("stop-with-stdin")) {
        void stdinEnd().then(() => stopping.abort());
      }
      await listener.finished;
      return EXIT.fine;
    } finally {
      await opened.close();
    }
  },
};

function readPort(args: Arguments): number | undefined {
  const port = args.number("port");
  if (port === undefined || (Number.isInteger(port) && port >= 0 && port <= 65535)) return port;
  throw new UsageError(`--port must be an integer from 0 to 65535: ${escapeText(args.text("port")!)}`);
}

function why(error: unknown): string {
  if (error instanceof Deno.errors.AddrInUse) return "the port is in use";
  return error instanceof Error ? error.message : String(error);
}
