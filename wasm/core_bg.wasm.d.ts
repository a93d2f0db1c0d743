/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const __trapForTests: () => void;
export const coreVersion: () => [number, number];
export const __wbindgen_externrefs: WebAssembly.Table;
export const __wbindgen_free: (a: number, b: number, c: number) => void;
export const __wbindgen_start: () => void;
