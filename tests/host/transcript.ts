/**
 * A session's log as people read it. `deno task test:host -- --show` prints those of the tests that call this.
 *
 * @module
 */
import type { LogEvent, SessionLog } from "./log.ts";

/** Prints the transcript when the tests were run with `--show`. */
export function showTranscript(session: SessionLog): void {
  if (Deno.args.includes("--show")) console.log(transcript(session));
}

/** One paragraph for each thing that was said or done. */
export function transcript({ header, events }: SessionLog): string {
  const lines = events.map(line).filter((text) => text !== null);
  return [`session ${header.id}`, ...lines].join("\n");
}

function line({ type, data }: LogEvent): string | null {
  switch (type) {
    case "turn/start":
      return `── turn ${data.turn}`;
    case "turn/end":
      return `── turn ${data.turn} ends: ${data.reason.kind}`;
    case "user/message": {
      const { kind, plugin, summary, purpose } = data.source;
      if (kind === "plugin" && plugin !== "assay-verify-gate") return null; // the host's own context
      const who = kind === "user" ? "user" : `${plugin} (${purpose ?? kind}): ${summary}`;
      return `${who}\n${indent(words(data.content))}`;
    }
    case "assistant/message": {
      const text = words(data.message.content);
      return text === "" ? null : `assistant\n${indent(text)}`;
    }
    case "tool/call":
      return `calls ${data.name}\n${indent(data.arguments)}`;
    case "tool/result": {
      const [block] = data.message.content;
      return `${block.isError ? "error" : "result"}\n${indent(words(block.content))}`;
    }
    default:
      return null;
  }
}

function words(content: readonly { readonly text?: string }[]): string {
  return content.map((part) => part.text ?? "").join("");
}

function indent(text: string): string {
  return text.trimEnd().split("\n").map((each) => `    ${each}`).join("\n");
}
