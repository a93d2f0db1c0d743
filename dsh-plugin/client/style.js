// @ts-check
/**
 * The card's look, in the host's own colours, which follow its light and dark themes.
 *
 * @module
 */

export const STYLE = `
.assay-card{list-style:none;border:1px solid var(--dsw-alias-border-l2);border-radius:12px;background:var(--dsw-alias-bg-layer-3);color:var(--dsw-alias-label-primary);font-size:13px;line-height:1.5}
.assay-card button{font:inherit;cursor:pointer}
.assay-card button:disabled{cursor:default;opacity:.45}
.assay-card :is(button,input,select,textarea):focus-visible{outline:2px solid var(--dsw-alias-brand-primary);outline-offset:1px}
.assay-toggle{display:flex;align-items:center;gap:12px;width:100%;padding:14px 16px;border:0;border-radius:12px;background:none;color:inherit;text-align:start}
.assay-toggle>span:first-child{flex:1;min-width:0}
.assay-name{display:block;font-size:15px;font-weight:600}
.assay-quiet{color:var(--dsw-alias-label-tertiary);margin:0}
.assay-mark{padding:0 8px;border-radius:999px;background:var(--dsw-alias-bg-module-platform);color:var(--dsw-alias-label-secondary);font-size:11px;font-weight:500;white-space:nowrap}
.assay-body{margin:0 16px;padding:12px 0;border-top:1px solid var(--dsw-alias-border-l2)}
.assay-group{margin:16px 0 0;padding:0;border:0;min-width:0}
.assay-group legend{padding:0;font-weight:600;color:var(--dsw-alias-label-secondary)}
.assay-field{display:grid;grid-template-columns:minmax(0,1fr);gap:4px;overflow-wrap:anywhere;padding:10px 0;border-bottom:1px solid var(--dsw-alias-border-l2)}
.assay-field:last-child{border-bottom:0}
.assay-line{display:flex;flex-wrap:wrap;align-items:center;gap:4px 8px}
.assay-line label{flex:1 1 4em;min-width:0;font-weight:500}
.assay-link{padding:0;border:0;background:none;color:var(--dsw-alias-label-secondary);font-size:12px;text-decoration:underline}
.assay-input{box-sizing:border-box;width:100%;min-height:34px;padding:6px 12px;border:1px solid var(--dsw-alias-border-l2);border-radius:8px;background:var(--dsw-alias-bg-layer-2);color:var(--dsw-alias-label-primary);font:inherit;color-scheme:light dark}
.assay-input::placeholder{color:var(--dsw-alias-label-tertiary)}
.assay-input[aria-invalid]{border-color:var(--dsw-alias-state-error-primary)}
.assay-input:disabled{color:var(--dsw-alias-label-tertiary)}
textarea.assay-input{resize:vertical;font-family:ui-monospace,monospace;font-size:12px}
.assay-check{width:16px;height:16px;margin:0;accent-color:var(--dsw-alias-brand-primary)}
.assay-error{margin:0;color:var(--dsw-alias-state-error-primary)}
.assay-footer{display:flex;flex-wrap:wrap;align-items:center;gap:8px;padding-top:12px}
.assay-footer p{flex:1 1 6em;margin:0}
.assay-button{padding:5px 14px;border:1px solid var(--dsw-alias-border-l2);border-radius:8px;background:none;color:var(--dsw-alias-label-secondary)}
.assay-save{border-color:transparent;background:var(--dsw-alias-label-primary);color:var(--dsw-alias-bg-layer-3)}
`;
