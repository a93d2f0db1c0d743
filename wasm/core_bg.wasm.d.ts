/* tslint:disable */
/* eslint-disable */
export const memory: WebAssembly.Memory;
export const __trapForTests: () => void;
export const blockToken: (a: number, b: number, c: number, d: number) => [number, number, number, number];
export const coreVersion: () => [number, number];
export const criterionIds: (a: number, b: number) => [number, number, number, number];
export const decodeLocate: (a: number, b: number, c: number, d: number, e: number, f: number) => [number, number, number, number];
export const decodeRead: (a: number, b: number, c: number, d: number, e: number, f: number, g: number, h: number, i: number) => [number, number, number, number];
export const decodeTags: (a: number, b: number, c: number, d: number, e: number) => [number, number, number, number];
export const decoderVersion: () => number;
export const draftPrompt: (a: number, b: number) => [number, number, number, number];
export const memoryBytes: () => number;
export const pairwiseFrame: (a: number, b: number) => [number, number, number, number];
export const pairwiseSuffix: (a: number, b: number) => [number, number, number, number];
export const parseRubric: (a: number, b: number) => [number, number, number, number];
export const progressFrame: (a: number, b: number) => [number, number, number, number];
export const progressSuffix: (a: number, b: number, c: number) => [number, number, number, number];
export const promptVersion: () => [number, number];
export const quoteMarkers: (a: number, b: number) => [number, number];
export const renderSteps: (a: number, b: number, c: number) => [number, number, number, number];
export const __wbindgen_externrefs: WebAssembly.Table;
export const __wbindgen_malloc: (a: number, b: number) => number;
export const __wbindgen_realloc: (a: number, b: number, c: number, d: number) => number;
export const __wbindgen_free: (a: number, b: number, c: number) => void;
export const __externref_table_dealloc: (a: number) => void;
export const __wbindgen_start: () => void;
