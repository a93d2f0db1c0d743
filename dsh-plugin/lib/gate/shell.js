// @ts-check
/**
 * Which shell commands only look. A command counts as looking only when every simple command in it is known, has no
 * option that writes or runs something, and its output goes nowhere but to the terminal. Whatever this reader doesn't
 * understand counts as doing: a gate too many costs a few calls, a gate too few lets bad work through.
 *
 * @module
 */

/** @typedef {(args: readonly string[]) => boolean} Rule Whether a command with these arguments only looks. */

const any = () => true;
/** @param {RegExp} refused @returns {Rule} */
const without = (refused) => (args) => !args.some((arg) => refused.test(arg));
/** @param {RegExp} allowed @returns {Rule} */
const only = (allowed) => (args) => args.every((arg) => allowed.test(arg));
/** At most one file: a second one would be written to. @type {Rule} */
const oneFile = (args) => args.filter((arg) => !arg.startsWith("-")).length <= 1;
/** @type {Rule} */
const versionOnly = (args) => args.length === 1 && /^(--version|-v|-V|version)$/.test(args[0] ?? "");

const SUBCOMMAND_LOOKS = new Set([
  ..."status log diff show blame ls-files ls-tree rev-parse rev-list describe shortlog cat-file grep"
    .split(" "),
]);

/** @type {Rule} */
function git(args) {
  let at = 0;
  for (; at < args.length && args[at]?.startsWith("-"); at++) {
    const option = args[at];
    if (option === "-C") at++;
    else if (option !== "--no-pager" && option !== "-P") {
      return option === "--version" && args.length === 1;
    }
  }
  const [subcommand = "", ...rest] = args.slice(at);
  // git takes any beginning of a long option for the whole, so `--outp=x` writes.
  if (
    rest.some((arg) => /^--(o(?!neline$)|ext|textconv|filters)|^-O/.test(arg))
  ) {
    return false;
  }
  if (SUBCOMMAND_LOOKS.has(subcommand)) return true;
  switch (subcommand) {
    case "branch":
      return only(/^(-[arv]+|--all|--remotes|--list|--show-current)$/)(rest);
    case "tag":
      return only(/^(-l|--list)$/)(rest);
    case "remote":
      return only(/^(-v|--verbose)$/)(rest) || rest[0] === "get-url";
    case "stash":
    case "worktree":
      return rest[0] === "list";
    case "config":
      return /^(--get|--get-all|--list|-l)$/.test(rest[0] ?? "");
    default:
      return false;
  }
}

/** @type {ReadonlyMap<string, Rule>} */
const LOOKING = new Map([
  .../** @type {[string, Rule][]} */ (
    ("ls pwd cd cat head tail wc stat du df which whereis type basename dirname realpath readlink echo true false " +
      "test [ whoami id uname uptime ps free nproc arch cmp diff comm cut tr nl tac rev fold column paste md5sum " +
      "sha1sum sha256sum sha512sum cksum od hexdump strings grep egrep fgrep jq printenv sleep")
      .split(" ").map((name) => [name, any])
  ),
  .../** @type {[string, Rule][]} */ (
    "node npm deno python python3 cargo rustc go gcc g++ clang java ruby php perl make cmake docker"
      .split(" ")
      .map((name) => [name, versionOnly])
  ),
  ["command", (args) => /^-[vV]$/.test(args[0] ?? "")],
  ["date", only(/^(\+.*|-u|--utc|-R|-I\w*|--iso-8601.*|--rfc-.*)$/)],
  ["file", without(/^-[^-]*C|^--c/)],
  ["find", without(/^-(delete|exec|ok|fprint|fls)/)],
  ["git", git],
  ["hostname", (args) => args.length === 0],
  ["printf", without(/^-v/)],
  ["rg", without(/^--(pre|hostname-bin)/)],
  [
    "sed",
    (args) =>
      args[0] === "-n" && /^\d+(,(\d+|\$))?p$/.test(args[1] ?? "") &&
      without(/^-/)(args.slice(2)),
  ],
  ["set", only(/^([-+][a-zA-Z]+|pipefail)$/)],
  // Beginnings of long options count as the whole: --out, --comp.
  ["sort", without(/^-[^-]*o|^--[oc]/)],
  ["tree", without(/^-[^-]*[oR]|^--o/)],
  ["uniq", oneFile],
  ["xxd", (args) => oneFile(args) && without(/^-[^-]*r|^--r/)(args)],
]);

/**
 * Whether a POSIX shell command certainly changes nothing.
 *
 * @param {string} command
 * @returns {boolean} False also for whatever can't be read for certain.
 */
export function onlyLooks(command) {
  const commands = simpleCommands(command);
  return commands !== null && commands.length > 0 && commands.every(([name, ...args]) => {
    const rule = LOOKING.get(name === `[${PATTERN}` ? "[" : name ?? "");
    // What a pattern stands for may be any number of files, with names that are options.
    return rule !== undefined && (rule === any || !args.some((arg) => arg.includes(PATTERN))) && rule(args);
  });
}

/** Stands in a word behind an unquoted pattern character; no command can hold it. */
const PATTERN = "\0";

/** A character that ends a word and is more than space. */
const OPERATOR = /[;|&<>\n]/;
/** Expansions, groups and comments: what they stand for isn't known here. */
const OPAQUE = /[$`(){}]/;

/**
 * The words of every simple command in a list or pipeline.
 *
 * @param {string} text
 * @returns {string[][] | null} Null when something in it can't be read for certain.
 */
function simpleCommands(text) {
  /** @type {string[][]} */
  const commands = [];
  /** @type {string[]} */
  let words = [];
  /** @type {string | null} */
  let word = null;
  const endWord = () => {
    if (word !== null) words.push(word);
    word = null;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };

  if (text.includes(PATTERN)) return null;
  for (let i = 0; i < text.length; i++) {
    const character = text[i] ?? "";
    if (character === "'") {
      const end = text.indexOf("'", i + 1);
      if (end === -1) return null;
      word = (word ?? "") + text.slice(i + 1, end);
      i = end;
    } else if (character === '"') {
      word ??= "";
      for (i++; text[i] !== '"'; i++) {
        const inside = text[i];
        if (inside === undefined || inside === "$" || inside === "`") {
          return null;
        }
        if (inside !== "\\") word += inside;
        else if (/["\\]/.test(text[i + 1] ?? "")) word += text[++i];
        else word += "\\";
      }
    } else if (character === "\\") {
      const next = text[++i];
      if (next === undefined) return null;
      if (next !== "\n") word = (word ?? "") + next;
    } else if (OPAQUE.test(character) || (character === "#" && word === null)) {
      return null;
    } else if (!OPERATOR.test(character)) {
      if (/[ \t]/.test(character)) endWord();
      // Not what a shell takes for a space, but what looks like one.
      else if (/\s/.test(character)) return null;
      else word = (word ?? "") + character + (/[*?[]/.test(character) ? PATTERN : "");
    } else {
      const found = operator(text, i);
      if (found === null) return null;
      if (/[<>]/.test(found)) {
        // The digits before a redirection are its file descriptor, no word.
        if (word !== null && /^\d+$/.test(word)) word = null;
        endWord();
      } else endCommand();
      i += found.length - 1;
    }
  }
  endCommand();
  return commands;
}

/**
 * The operator at a place, with the target of a redirection that writes.
 *
 * @param {string} text @param {number} at
 * @returns {string | null} Null for what may write, runs in the background or isn't known.
 */
function operator(text, at) {
  const rest = text.slice(at);
  const found = /^(?:&>>?|>>?)[ \t]*\/dev\/null(?![^\s;|&<>])|^>&[12](?![^\s;|&<>])/.exec(rest) ??
    // Reading from a file; not a here-document, which may hold expansions, and not `<>`, which makes the file.
    /^<[ \t]*(?=[^\s<>&();|$`'"\\])/.exec(rest) ??
    /^(?:&&|\|\||;|\n|\|(?![|&]))/.exec(rest);
  return found === null ? null : found[0];
}
