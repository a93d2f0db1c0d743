/**
 * A page in Debian's Chromium that a test can click in and look at, over the browser's debugging socket.
 *
 * @module
 */

/** Debian's. */
export const CHROMIUM = "/usr/bin/chromium";
/** A browser that says and fetches nothing by itself. */
export const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
] as const;
/** How long a page may take to show what a test waits for. */
const PATIENCE_MS = 20_000;

/** Why there is no page to be had here, or null. */
export const missingChromium: string | null = (() => {
  try {
    return Deno.statSync(CHROMIUM).isFile ? null : `no ${CHROMIUM}`;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return `no ${CHROMIUM}`;
  }
})();

/** An open page; disposing of it ends the browser. */
export interface Page extends AsyncDisposable {
  /** Value of an expression, or of the promise that it gives. @throws {Error} when it throws in the page */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until an expression is truthy. @returns its value @throws {Error} with `what` after 20 s */
  until<T>(expression: string, what: string): Promise<T>;
  /** Sets what the system prefers. */
  prefer(scheme: "light" | "dark"): Promise<void>;
  /** A PNG of what is to be seen. */
  screenshot(): Promise<Uint8Array>;
  /** Exceptions and errors on the console. */
  readonly complaints: readonly string[];
}

/** Opens `url`. `language` is the browser's, for example `en-US`. */
export async function openPage(
  url: string,
  { language = "en-US", width = 1280, height = 900 } = {},
): Promise<Page> {
  const profile = await Deno.makeTempDir({ prefix: "assay-chromium-" });
  const child = new Deno.Command(CHROMIUM, {
    args: [
      "--headless=new",
      ...QUIET,
      "--remote-debugging-port=0",
      `--lang=${language}`,
      `--accept-lang=${language}`,
      `--window-size=${width},${height}`,
      `--user-data-dir=${profile}`,
      "about:blank",
    ],
    env: { LANGUAGE: language.replace("-", "_") },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const address = Promise.withResolvers<string>();
  let said = "";
  const collected = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      said = (said + text).slice(-10_000);
      const found = said.match(/DevTools listening on (ws:\/\/\S+)/)?.[1];
      if (found !== undefined) address.resolve(found);
    }
    address.reject(new Error(`Chromium ended before it could be spoken to:\n${said}`));
  })();
  const end = async (): Promise<void> => {
    try {
      child.kill("SIGKILL");
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // it has ended by itself
    }
    await Promise.all([child.status, collected]);
    await removeFolder(profile);
  };
  try {
    const socket = await connect(await address.promise);
    const page = await attach(socket, url);
    return {
      ...page,
      async [Symbol.asyncDispose]() {
        const closed = new Promise((resolve) => socket.addEventListener("close", resolve, { once: true }));
        socket.close();
        await end();
        await closed;
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function connect(address: string): Promise<WebSocket> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
  return socket;
}

/** Helpers of the browser outlive it for a moment and may write into its folder while it is being removed. */
async function removeFolder(folder: string): Promise<void> {
  for (let tries = 50;; tries--) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch (error) {
      if (tries === 0 || error instanceof Deno.errors.NotFound) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

// deno-lint-ignore no-explicit-any
type Answer = any;

async function attach(socket: WebSocket, url: string): Promise<Omit<Page, keyof AsyncDisposable>> {
  const complaints: string[] = [];
  const waiting = new Map<number, { resolve: (value: Answer) => void; reject: (error: Error) => void }>();
  let last = 0;
  /** Joined to every message once a page is attached. */
  const to: { sessionId?: string } = {};
  socket.addEventListener("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("the browser went away"));
  });
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(data);
    if (message.id !== undefined) {
      const asked = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) asked?.reject(new Error(JSON.stringify(message.error)));
      else asked?.resolve(message.result);
    } else if (message.method === "Runtime.exceptionThrown") {
      const { exception, text } = message.params.exceptionDetails;
      complaints.push(exception?.description ?? text);
    } else if (message.method === "Runtime.consoleAPICalled" && message.params.type === "error") {
      const parts = message.params.args as { value?: unknown; description?: string }[];
      complaints.push(parts.map((part) => String(part.value ?? part.description)).join(" "));
    }
  });
  const send = (method: string, params: unknown = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params, ...to }));
    });
  const { targetInfos } = await send("Target.getTargets");
  const target = targetInfos.find((info: { type: string }) => info.type === "page");
  const attached = await send("Target.attachToTarget", { targetId: target.targetId, flatten: true });
  to.sessionId = attached.sessionId;
  await send("Page.enable");
  await send("Runtime.enable");
  await send("Page.navigate", { url });

  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) {
      throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    }
    return result.value;
  };
  return {
    complaints,
    evaluate,
    async until<T>(expression: string, what: string): Promise<T> {
      const limit = Date.now() + PATIENCE_MS;
      while (true) {
        // A page that is being loaded has no context to ask for a moment.
        const value = await evaluate<T>(expression).catch(() => undefined);
        if (value) return value;
        if (Date.now() > limit) {
          const text = await evaluate<string>("document.body.innerText").catch(() => "");
          throw new Error(`the page never showed ${what}; it shows:\n${text}\n${complaints.join("\n")}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async prefer(scheme) {
      await send("Emulation.setEmulatedMedia", {
        features: [{ name: "prefers-color-scheme", value: scheme }],
      });
    },
    async screenshot() {
      const { data } = await send("Page.captureScreenshot", { format: "png" });
      return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    },
  };
}
