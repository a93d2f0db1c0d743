/**
 * Takes secrets out of text before it leaves a judge, a log or a record. Only the secret goes; everything around it
 * stays as it was. Linear in the text: every pattern ends at a delimiter that can't start it again.
 *
 * @module
 */

/** What stands in for a secret. */
export const REDACTED = "[redacted]";

/** Names whose value is a secret, in JSON, in headers, in query strings and in assignments. */
const NAME =
  "(?:[a-z0-9_-]{0,40}?(?:api[_-]?key|apikey|access[_-]?key|private[_-]?key|secret(?:[_-]?key)?|client[_-]?secret|" +
  "passw(?:or)?d|passphrase|(?:access|refresh|auth|id|bearer|session|api)[_-]?token)|token|authorization|pwd)";

/** In text that was written as JSON the character before a word may be a line end's escape: `\nghp_…`. */
const ESCAPE = "\\\\[bfnrt]";
const JSON_FIELD = new RegExp(
  `(\\\\?["']${NAME}\\\\?["']\\s{0,8}:\\s{0,8}\\\\?["'])([^"'\\\\\\r\\n]{1,8192})`,
  "gi",
);
const ASSIGNMENT = new RegExp(
  `((?:^|[^a-z0-9_-]|${ESCAPE})${NAME}\\s{0,4}=\\s{0,4})("[^"\\r\\n]{1,8192}"|'[^'\\r\\n]{1,8192}'|[^\\s&"',;\\\\]{1,8192})`,
  "gim",
);
const LABEL = new RegExp(
  `((?:^|[^a-z0-9_-]|${ESCAPE})(?!token)${NAME}:\\s{0,4})("[^"\\r\\n]{1,8192}"|'[^'\\r\\n]{1,8192}'|(?:(?:bearer|basic|token|digest)\\s{1,4})?[^\\s"',;\\\\]{1,8192})`,
  "gim",
);
const COOKIE =
  /((?:^|[^a-z0-9-]|\\[bfnrt])(?:set-)?cookie2?["']?\s{0,4}:\s{0,4})((?:(?!\\[nr])[^\r\n]){1,16384})/gim;
const SCHEME = /(^|[^a-z0-9]|\\[bfnrt])(bearer|basic)(\s{1,8})([A-Za-z0-9+/._~=-]{4,8192})/gim;
const USER_INFO = /:\/\/[^\s/@"'<>]{1,2048}@/g;
const QUERY_KEY = /([?&](?:key|sig|signature|token|auth|code)=)[^\s&"'#]{1,8192}/gi;
const KNOWN_KEYS = new RegExp(
  `(^|[^A-Za-z0-9]|${ESCAPE})(` + [
    "(?:sk|pk|rk)[-_][A-Za-z0-9*_-]{8,512}",
    "gh[pousr]_[A-Za-z0-9]{16,256}",
    "github_pat_[A-Za-z0-9_]{16,256}",
    "glpat-[A-Za-z0-9_-]{16,256}",
    "(?:AKIA|ASIA)[A-Z0-9]{16}",
    "AIza[A-Za-z0-9_-]{30,256}",
    "ya29\\.[A-Za-z0-9_.-]{16,2048}",
    "xox[abeoprs]-[A-Za-z0-9-]{8,256}",
    "hf_[A-Za-z0-9]{16,256}",
    "gsk_[A-Za-z0-9]{16,256}",
    "npm_[A-Za-z0-9]{30,256}",
    "eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{0,8192}",
  ].join("|") + ")",
  "g",
);

// What every match of the three patterns with `NAME` holds, of known keys, of cookies and of schemes. Most texts hold none
// of it, and a look without choices at every start is up to ten times cheaper than the patterns themselves.
const HINT_OF_NAME =
  /(?:key|secret|passw(?:or)?d|passphrase|token|authorization|pwd)(?:\\?["'])?\s{0,8}[:=]/i;
const HINT_OF_KEY = /[spr]k[-_]|gh[pousr]_|github_pat_|glpat-|A[KS]IA|AIza|ya29\.|xox[abeoprs]-|hf_|npm_|eyJ/;
const HINT_OF_COOKIE = /cookie/i;
const HINT_OF_SCHEME = /(?:bearer|basic)\s/i;

/**
 * The text without secrets: the given values wherever they stand, bearer and basic credentials, keys of known
 * providers, PEM blocks, fields, headers and assignments named like secrets, cookies, user-info in URLs.
 *
 * @param secrets exact values known to be secret (at least 4 characters count); also found URL-encoded
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let result = text;
  for (const secret of secrets) {
    if (secret.length < 4) continue;
    result = result.replaceAll(secret, REDACTED);
    const encoded = encodeURIComponent(secret.toWellFormed());
    if (encoded !== secret) result = result.replaceAll(encoded, REDACTED);
  }
  result = redactPem(result);
  if (result.includes("://")) result = result.replace(USER_INFO, `://${REDACTED}@`);
  if (HINT_OF_COOKIE.test(result)) result = result.replace(COOKIE, `$1${REDACTED}`);
  if (HINT_OF_NAME.test(result)) {
    result = result.replace(JSON_FIELD, `$1${REDACTED}`).replace(LABEL, `$1${REDACTED}`)
      .replace(ASSIGNMENT, `$1${REDACTED}`);
  }
  result = result.replace(QUERY_KEY, `$1${REDACTED}`);
  if (HINT_OF_KEY.test(result)) result = result.replace(KNOWN_KEYS, `$1${REDACTED}`);
  if (!HINT_OF_SCHEME.test(result)) return result;
  return result.replace(
    SCHEME,
    (whole, before: string, scheme: string, space: string, value: string) =>
      isPlainWord(value) ? whole : `${before}${scheme}${space}${REDACTED}`,
  );
}

/** "Bearer authentication" is prose; a credential has digits, signs or capitals inside. */
function isPlainWord(value: string): boolean {
  return /^[A-Za-z]?[a-z]*[.]?$/.test(value) && value.length < 24 || value === REDACTED.slice(1, -1);
}

// By hand, as a lazy pattern would look for the end again from every beginning.
function redactPem(text: string): string {
  let from = 0;
  let result = "";
  for (;;) {
    const begin = text.indexOf("-----BEGIN ", from);
    if (begin < 0) return result + text.slice(from);
    const end = text.indexOf("-----END ", begin);
    result += text.slice(from, begin) + REDACTED;
    if (end < 0) return result;
    const close = text.indexOf("-----", end + 9);
    from = close < 0 ? text.length : close + 5;
  }
}
