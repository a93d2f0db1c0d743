// @ts-check
import assert from "node:assert/strict";
import http from "node:http";
import { describe, test } from "node:test";
import { createConnection } from "../../lib/server/connection.js";
import { VerifierError } from "../../lib/server/errors.js";

/** @typedef {{ method: string, path: string, headers: import("node:http").IncomingHttpHeaders, body: string }} Seen */

/**
 * Runs `act` against a loopback server and gives what it was asked.
 *
 * @param {(seen: Seen, response: http.ServerResponse, index: number) => void} answer
 * @param {(url: string, seen: Seen[]) => Promise<void>} act
 */
async function withServer(answer, act) {
  /** @type {Seen[]} */
  const seen = [];
  const server = http.createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const entry = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      seen.push(entry);
      answer(entry, response, seen.length - 1);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = server.address();
  try {
    await act(
      `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
      seen,
    );
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

/** @param {string} url @param {Record<string, unknown>} [more] */
const at = (url, more = {}) => () => ({
  url,
  token: null,
  timeoutMs: 5000,
  autostart: false,
  ...more,
});

/** @param {http.ServerResponse} response @param {unknown} value @param {number} [status] @param {Record<string, string>} [headers] */
function json(response, value, status = 200, headers = {}) {
  response.writeHead(status, {
    "content-type": "application/json",
    ...headers,
  });
  response.end(JSON.stringify(value));
}

/** @param {Promise<unknown>} promise @returns {Promise<VerifierError>} */
async function failureOf(promise) {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof VerifierError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "it must have failed" });
}

/** A port of this machine where nobody listens. */
async function deadUrl() {
  let url = "";
  await withServer(() => {}, (live) => {
    url = live;
    return Promise.resolve();
  });
  return url;
}

describe("a request", () => {
  test("carries token, agent and id to the path below the configured one", async () => {
    await withServer(
      (_, response) => json(response, { id: "dec_1" }, 201),
      async (url, seen) => {
        const connection = createConnection({
          settings: at(`${url}/assay/`, { token: "s3cret" }),
        });
        const { value, status, headers } = await connection.post(
          "/v1/compare",
          { task: "tä", gone: undefined },
          {
            idempotencyKey: "k-1",
          },
        );
        connection.close();
        assert.deepEqual([value, status, headers["content-type"]], [
          { id: "dec_1" },
          201,
          "application/json",
        ]);
        const { method, path, headers: sent, body } = /** @type {Seen} */ (seen[0]);
        assert.deepEqual([method, path, body], [
          "POST",
          "/assay/v1/compare",
          '{"task":"tä"}',
        ]);
        assert.equal(sent.authorization, "Bearer s3cret");
        assert.equal(sent["idempotency-key"], "k-1");
        assert.match(sent["user-agent"] ?? "", /^dsh-assay\/\d+\.\d+\.\d+/);
        assert.match(String(sent["x-request-id"]), /^[0-9a-f-]{36}$/);
      },
    );
  });

  test("without a token has no Authorization, without a body no content type", async () => {
    await withServer(
      (_, response) => response.writeHead(204).end(),
      async (url, seen) => {
        const connection = createConnection({ settings: at(url) });
        assert.equal((await connection.get("/v1/trackers/x")).value, null);
        assert.equal((await connection.remove("/v1/trackers/x")).status, 204);
        connection.close();
        assert.deepEqual(seen.map(({ method }) => method), ["GET", "DELETE"]);
        for (const { headers } of seen) {
          assert.equal(headers.authorization, undefined);
          assert.equal(headers["content-type"], undefined);
        }
      },
    );
  });

  test("uses one connection for one call after another", async () => {
    const sockets = new Set();
    await withServer((_, response) => {
      sockets.add(response.socket);
      json(response, {});
    }, async (url) => {
      const connection = createConnection({ settings: at(url) });
      for (let index = 0; index < 5; index++) {
        await connection.post("/v1/compare", {});
      }
      connection.close();
    });
    assert.equal(sockets.size, 1);
  });

  test("that can't be JSON or has a bad key is refused before anything is sent", async () => {
    const connection = createConnection({ settings: at("http://127.0.0.1:1") });
    assert.equal(
      (await failureOf(connection.post("/x", { n: 5n }))).code,
      "invalid_request",
    );
    assert.equal(
      (await failureOf(connection.post("/x", undefined))).code,
      "invalid_request",
    );
    const refused = await failureOf(
      connection.post("/x", {}, { idempotencyKey: "a b" }),
    );
    assert.match(
      refused.message,
      /idempotencyKey must be visible ASCII without spaces; value: "a b"/,
    );
  });
});

describe("a failure", () => {
  test("of the server is its problem document", async () => {
    const document = {
      type: "/docs#problem-over_budget",
      title: "Over budget",
      status: 422,
      code: "over_budget",
      detail: "The plan needs more calls than the budget has.",
      errors: [
        { path: "/budget/calls", message: "must be at least 6", value: 3 },
        "odd",
        { path: 5 },
      ],
      plan: { calls: 6 },
      stage: "acceptance",
      length: 4,
      decision: "dec_1",
    };
    await withServer(
      (_, response) => json(response, document, 422, { "retry-after": "7" }),
      async (url) => {
        const error = await failureOf(
          createConnection({ settings: at(url) }).post("/v1/compare", {}),
        );
        assert.equal(
          error.message,
          "over_budget: The plan needs more calls than the budget has. (/budget/calls: must be at least 6; value: 3) Try again in 7 s.",
        );
        assert.deepEqual(
          [
            error.status,
            error.plan,
            error.stage,
            error.length,
            error.decision,
            error.retryAfterSeconds,
          ],
          [422, { calls: 6 }, "acceptance", 4, "dec_1", 7],
        );
      },
    );
  });

  test("of something that is no Assay server says so and quotes it", async () => {
    await withServer(
      (_, response) => response.writeHead(200).end("<html>\n hello </html>"),
      async (url) => {
        const error = await failureOf(
          createConnection({ settings: at(url) }).get("/v1/x"),
        );
        assert.equal(error.code, "bad_answer");
        assert.match(
          error.message,
          /isn't JSON, so it may not be an Assay server: "<html> hello <\/html>"/,
        );
      },
    );
    await withServer(
      (_, response) => json(response, { error: "teapot" }, 418),
      async (url) => {
        const error = await failureOf(
          createConnection({ settings: at(url) }).get("/v1/x"),
        );
        assert.deepEqual([error.code, error.status], ["bad_answer", 418]);
      },
    );
  });

  test("by redirect is not followed, so the token goes nowhere else", async () => {
    await withServer(
      (_, response) => json(response, {}),
      async (other, reached) => {
        await withServer(
          (_, response) => response.writeHead(307, { location: `${other}/v1/x` }).end(),
          async (url) => {
            const error = await failureOf(
              createConnection({ settings: at(url, { token: "s" }) }).post(
                "/v1/x",
                {},
              ),
            );
            assert.deepEqual([error.code, error.status], ["bad_answer", 307]);
            assert.match(
              error.message,
              /redirects to ".*redirects are not followed/,
            );
          },
        );
        assert.deepEqual(reached, []);
      },
    );
  });

  test("by an answer without end is stopped at the limit", async () => {
    await withServer((_, response) => {
      const chunk = Buffer.alloc(1 << 20, 0x20);
      response.writeHead(200);
      const more = () => {
        if (!response.destroyed) response.write(chunk, more);
      };
      more();
    }, async (url) => {
      const error = await failureOf(
        createConnection({ settings: at(url) }).get("/v1/x"),
      );
      assert.equal(error.code, "bad_answer");
      assert.match(error.message, /larger than 33554432 bytes/);
    });
  });

  test("by a server that isn't there says what to do", async () => {
    const url = await deadUrl();
    const error = await failureOf(
      createConnection({ settings: at(url) }).post("/v1/x", {}),
    );
    assert.equal(error.code, "server_unreachable");
    assert.equal(error.status, null);
    assert.match(
      error.message,
      /Nothing listens at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Start the Assay server/,
    );
  });

  test("never has the token in it", async () => {
    const url = await deadUrl();
    for (const token of ["s3cret-token", "bad\r\ntoken"]) {
      const error = await failureOf(
        createConnection({ settings: at(url, { token }) }).post("/v1/x", {}),
      );
      assert.ok(
        !error.message.includes(token) && !String(error.stack).includes(token),
      );
    }
  });
});

describe("an end before the answer", () => {
  test("by the caller is `aborted`, whatever the signal's reason is", async () => {
    for (const reason of [{ kind: "disposed" }, undefined, new Error("x")]) {
      const caller = new AbortController();
      await withServer(() => caller.abort(reason), async (url) => {
        const error = await failureOf(
          createConnection({ settings: at(url) }).post("/v1/x", {}, {
            signal: caller.signal,
          }),
        );
        assert.deepEqual([error.code, error.message], [
          "aborted",
          "aborted: The call was cancelled.",
        ]);
      });
    }
  });

  test("before it was even sent sends nothing", async () => {
    await withServer((_, response) => json(response, {}), async (url, seen) => {
      const error = await failureOf(
        createConnection({ settings: at(url) }).get("/v1/x", {
          signal: AbortSignal.abort({ kind: "disposed" }),
        }),
      );
      assert.equal(error.code, "aborted");
      assert.deepEqual(seen, []);
    });
  });

  test("by the deadline names it", async () => {
    await withServer(() => {}, async (url) => {
      const error = await failureOf(
        createConnection({ settings: at(url) }).get("/v1/x", { timeoutMs: 20 }),
      );
      assert.equal(error.code, "deadline_exceeded");
      assert.match(error.message, /gave no answer within 20 ms/);
      const bySetting = createConnection({
        settings: at(url, { timeoutMs: 10 }),
      });
      assert.match(
        (await failureOf(bySetting.get("/v1/x"))).message,
        /within 10 ms/,
      );
    });
  });
});

describe("a connection that is lost before an answer", () => {
  /** @param {Seen} _ @param {http.ServerResponse} response @param {number} index */
  const dropsFirst = (_, response, index) =>
    index === 0 ? response.socket?.destroy() : json(response, { index });

  test("is made again, once, for what may be repeated", async () => {
    await withServer(dropsFirst, async (url, seen) => {
      const { value } = await createConnection({ settings: at(url) }).get(
        "/v1/x",
      );
      assert.deepEqual([value, seen.length], [{ index: 1 }, 2]);
    });
    await withServer(dropsFirst, async (url, seen) => {
      const { value } = await createConnection({ settings: at(url) }).post(
        "/v1/x",
        { a: 1 },
        { idempotencyKey: "k" },
      );
      assert.deepEqual([value, seen.length, seen[1]?.body], [
        { index: 1 },
        2,
        '{"a":1}',
      ]);
    });
    await withServer(dropsFirst, async (url, seen) => {
      const { value } = await createConnection({ settings: at(url) }).post("/v1/x", {}, { repeatable: true });
      assert.deepEqual([value, seen.length], [{ index: 1 }, 2]);
      assert.equal(seen[1]?.headers["idempotency-key"], undefined);
    });
    await withServer(
      (_, response) => response.socket?.destroy(),
      async (url, seen) => {
        const error = await failureOf(
          createConnection({ settings: at(url) }).get("/v1/x"),
        );
        assert.deepEqual([error.code, seen.length], ["server_unreachable", 2]);
      },
    );
  });

  test("is not made again for a request without a key, which may have been paid for", async () => {
    await withServer(dropsFirst, async (url, seen) => {
      const error = await failureOf(
        createConnection({ settings: at(url) }).post("/v1/x", {}),
      );
      assert.deepEqual([error.code, seen.length], ["server_unreachable", 1]);
    });
  });

  test("in the middle of an answer is told and not repeated", async () => {
    await withServer((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{", () => response.socket?.destroy());
    }, async (url, seen) => {
      const error = await failureOf(
        createConnection({ settings: at(url) }).get("/v1/x"),
      );
      assert.equal(error.code, "server_unreachable");
      assert.match(
        error.message,
        /broke while the answer came .*the work may have been done/,
      );
      assert.equal(seen.length, 1);
    });
  });
});

describe("a server that can be started", () => {
  test("is started when nobody listens, and then asked", async () => {
    await withServer(
      (_, response) => json(response, { up: true }),
      async (url) => {
        let current = await deadUrl();
        let started = 0;
        const connection = createConnection({
          settings: () => ({
            url: current,
            token: null,
            timeoutMs: 5000,
            autostart: true,
          }),
          autostart: { ensure: () => Promise.resolve(void started++) },
          transport: {
            // The second try reaches the server that has been started.
            send: (exchange) =>
              createdTransport.send(
                started === 0 ? exchange : {
                  ...exchange,
                  url: { ...exchange.url, port: portOf(url) },
                },
              ),
            close: () => {},
          },
        });
        const { createTransport } = await import(
          "../../lib/server/transport.js"
        );
        const createdTransport = createTransport();
        assert.deepEqual((await connection.post("/v1/x", {})).value, {
          up: true,
        });
        assert.equal(started, 1);
        current = url;
        await connection.post("/v1/x", {});
        assert.equal(started, 1);
        createdTransport.close();
      },
    );
  });

  test("is left alone unless the setting says so", async () => {
    const url = await deadUrl();
    const autostart = {
      ensure: () => Promise.reject(new Error("must not be asked")),
    };
    const error = await failureOf(
      createConnection({ settings: at(url), autostart }).get("/v1/x"),
    );
    assert.equal(error.code, "server_unreachable");
  });

  test("that doesn't start says why, unless the caller has left or the time is over", async () => {
    const url = await deadUrl();
    const settings = at(url, { autostart: true });
    const failing = {
      ensure: () => Promise.reject(new VerifierError("server_unreachable", "No runtime.")),
    };
    assert.match(
      (await failureOf(
        createConnection({ settings, autostart: failing }).get("/v1/x"),
      )).message,
      /No runtime/,
    );
    const waiting = {
      ensure: (
        /** @type {AbortSignal} */ signal,
      ) => /** @type {Promise<void>} */ (new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason))
      )),
    };
    const late = createConnection({ settings, autostart: waiting }).get(
      "/v1/x",
      { timeoutMs: 20 },
    );
    assert.equal((await failureOf(late)).code, "deadline_exceeded");
  });
});

/** @param {string} url @returns {number} */
const portOf = (url) => Number(new URL(url).port);

test("a failure never repeats the token, whatever the other side sends back", async () => {
  const token = "s3cret-token";
  /** @type {((seen: Seen, response: http.ServerResponse) => void)[]} */
  const echoes = [
    (seen, response) => response.end(`you sent ${seen.headers.authorization}`),
    ({ headers }, response) => json(response, { authorization: headers.authorization }, 404),
    (seen, response) => response.writeHead(302, { location: `/?${seen.headers.authorization}` }).end(),
    ({ headers }, response) =>
      json(response, {
        code: "unauthorized",
        detail: `not ${headers.authorization}`,
        errors: [{ path: "/", message: "wrong", value: headers.authorization }],
      }, 401),
  ];
  for (const echo of echoes) {
    await withServer(echo, async (url) => {
      const connection = createConnection({ settings: at(url, { token }) });
      const error = await failureOf(connection.post("/v1/x", {}));
      connection.close();
      const told = [error.message, error.detail, String(error.cause), JSON.stringify(error.errors)].join();
      assert.doesNotMatch(told, /s3cret/);
      assert.match(told, /\(the token\)/);
    });
  }
});
