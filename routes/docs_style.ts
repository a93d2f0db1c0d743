/**
 * The look of the documentation page: light and dark, readable on a phone, nothing loaded.
 *
 * @module
 */

/** CSS, inlined into the page; its hash stands in the page's Content-Security-Policy. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fdfdfc; --raised: #f3f3f0; --line: #dcdcd6; --text: #1d1f21; --quiet: #5d6268;
  --accent: #0b5fae; --get: #1a6b3c; --post: #8a4b00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16181b; --raised: #1f2226; --line: #34393f; --text: #e3e5e8; --quiet: #a0a7af;
    --accent: #7cb8f5; --get: #7ccf9b; --post: #f0b35f;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; }
a { color: var(--accent); text-underline-offset: 0.15em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
.skip { position: absolute; left: -100vw; background: var(--ground); padding: 0.5rem 1rem; }
.skip:focus { left: 0; top: 0; z-index: 1; }
.layout { display: grid; grid-template-columns: 18rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--line); font-size: 0.875rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: 0.2rem 0.4rem; text-decoration: none; color: inherit; border-radius: 4px; overflow-wrap: anywhere; }
nav li a:hover { background: var(--raised); }
.brand { margin: 0 0.4rem 1rem; font-size: 1.1rem; }
.brand a { font-weight: 700; color: inherit; text-decoration: none; }
.group { margin: 1.25rem 0.4rem 0.25rem; font-weight: 600; color: var(--quiet); }
main { padding: 1.5rem clamp(1rem, 4vw, 3rem) 6rem; min-width: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.4rem; line-height: 1.3; margin: 3rem 0 0.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2.5rem 0 0.25rem; overflow-wrap: anywhere; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
header h2 { border: 0; margin-top: 1.5rem; padding-top: 0; }
p { max-width: 46rem; margin: 0.5rem 0; }
.summary { font-weight: 600; }
.quiet, .limits { color: var(--quiet); }
.limits, .mark { font-size: 0.85em; }
.mark { margin-left: 0.5em; white-space: nowrap; color: var(--quiet); }
.required { color: var(--post); }
.label { margin: 1.25rem 0 0.25rem; font-weight: 600; }
.problems { margin-top: 1rem; font-size: 0.875rem; }
.verb { font: 600 0.75em/1 ui-monospace, monospace; letter-spacing: 0.03em; }
.verb.get { color: var(--get); }
.verb.post { color: var(--post); }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.875em; }
p code, li code, td code { background: var(--raised); padding: 0.1em 0.3em; border-radius: 3px; overflow-wrap: anywhere; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem 1rem; overflow-x: auto; line-height: 1.5; }
pre code { font-size: 0.8125rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; margin: 0.5rem 0; }
caption { text-align: left; font-weight: 600; margin: 0.75rem 0 0.25rem; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.75rem 0.4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; }
td:first-child { min-width: 9rem; }
td:nth-child(2) { min-width: 8rem; max-width: 18rem; }
td:last-child { min-width: 14rem; width: 60%; }
details { margin: 0.4rem 0; }
summary { cursor: pointer; color: var(--accent); }
.alternatives { padding-left: 1.25rem; }
tr:target, h3:target { background: color-mix(in srgb, var(--accent) 14%, transparent); }
@media (max-width: 56rem) {
  .layout { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  h1 { font-size: 1.6rem; }
}
@media (max-width: 40rem) {
  thead { position: absolute; left: -100vw; }
  tr { display: block; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  td, td:first-child, td:nth-child(2), td:last-child { display: block; border: 0; padding: 0.1rem 0; width: auto; min-width: 0; max-width: none; }
  td:empty { display: none; }
}
@media print { nav { display: none; } .layout { display: block; } }
`;
