// @ts-check
/**
 * A host as far as settings are concerned: contexts that can be disposed, and a settings service over one document.
 *
 * @module
 */

/** @typedef {"shows" | "unlisted" | "throws"} Fault */

export class FakeHost {
  /** @type {Map<string, (section: unknown) => unknown>} */
  registered = new Map();
  /** @type {string[]} */
  said = [];
  log = {
    info: () => {},
    warn: (/** @type {string} */ text) => void this.said.push(text),
  };
  root = {};
  /** @type {Set<() => void>} */
  #waiting = new Set();
  /** @type {Map<string, unknown>} */
  #resolved = new Map();
  /** @type {Set<(ns: string) => void>} */
  #updated = new Set();
  /** @type {(() => void)[]} */
  #withdrawn = [];
  #present;

  /**
   * @param {Record<string, unknown>} document
   * @param {{ service?: boolean, fault?: Fault, without?: string[] }} [options]
   */
  constructor(document, { service = true, fault, without = [] } = {}) {
    this.document = document;
    this.fault = fault;
    this.without = new Set(without);
    this.#present = service;
  }

  /** @param {{ scope?: object }} [options] */
  context({ scope } = {}) {
    return this.#make(
      scope === undefined ? {} : { [Symbol("dsh.scope")]: scope },
    );
  }

  provide() {
    this.#present = true;
    for (const run of [...this.#waiting]) run();
  }

  withdraw() {
    this.#present = false;
    for (const undo of this.#withdrawn.splice(0).reverse()) undo();
  }

  /** @param {string} ns @param {Record<string, unknown>} section */
  write(ns, section) {
    const schema = this.registered.get(ns);
    if (schema === undefined) throw new Error(`"${ns}" is not registered`);
    this.#resolved.set(ns, Object.freeze(schema(section)));
    this.document[ns] = section;
    for (const listener of this.#updated) listener(ns);
  }

  /** @param {Record<PropertyKey, unknown>} own @returns {any} */
  #make(own) {
    /** @type {(() => void)[]} */
    const undo = [];
    let over = false;
    const dispose = () => {
      over = true;
      for (const each of undo.splice(0).reverse()) each();
    };
    const ctx = {
      ...own,
      root: this.root,
      dispose,
      fiber: { dispose },
      effect: (/** @type {() => () => void} */ run) => void undo.push(run()),
      on: (
        /** @type {string} */ name,
        /** @type {(ns: string) => void} */ listener,
      ) => {
        if (name === "settings/updated") this.#updated.add(listener);
      },
      inject: (
        /** @type {string[]} */ _names,
        /** @type {(ctx: any) => void} */ run,
      ) => {
        const start = () => {
          if (over) return;
          const child = this.#make(own);
          child.settings = this.#service(child);
          undo.push(child.dispose);
          this.#withdrawn.push(child.dispose);
          run(child);
        };
        if (this.#present) start();
        else this.#waiting.add(start);
      },
    };
    return ctx;
  }

  /** @param {any} owner */
  #service(owner) {
    const service = {
      register: (
        /** @type {string} */ ns,
        /** @type {(section: unknown) => unknown} */ schema,
      ) => {
        if (this.registered.has(ns)) {
          throw new Error(`settings namespace "${ns}" is already registered`);
        }
        this.#resolved.set(ns, Object.freeze(schema(this.document[ns])));
        owner.effect(() => {
          this.registered.set(ns, schema);
          return () => {
            this.registered.delete(ns);
            this.#resolved.delete(ns);
          };
        });
      },
      get: (/** @type {string} */ ns) => this.#resolved.get(ns),
      describe: (
        /** @type {{ redactSecrets?: boolean }} */ { redactSecrets = false } = {},
      ) => {
        if (this.fault === "throws") {
          throw new Error("it can't read this schema");
        }
        return [...this.registered.keys()].map((ns) => {
          const section = /** @type {Record<string, unknown>} */ (this.document[ns] ?? {});
          const { token, ...rest } = section;
          const shown = redactSecrets && this.fault !== "shows" ? rest : section;
          const secrets = this.fault === "unlisted" ? [] : [{ path: ["token"], set: token !== undefined }];
          return {
            ns,
            value: shown,
            user: shown,
            ...(redactSecrets ? { secrets } : {}),
          };
        });
      },
    };
    return Object.fromEntries(
      Object.entries(service).filter(([name]) => !this.without.has(name)),
    );
  }
}
