/** A server that is open to the internet: callers from a database, rate limits and timeouts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { sendSlowly } from "../../../test/support/send-slowly.ts";
import { defineContract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { HttpServer } from "./server.ts";
import { buildServer } from "./server.ts";

const submit = defineContract({
  id: "submit",
  method: "POST",
  path: "/submit",
  access: "submit",
  summary: "Takes.",
  body: z.unknown(),
  response: z.object({ platform: z.string() }),
  errors: ["BAD_REQUEST"],
});

const silent = () => undefined;
const log = { debug: silent, info: silent, warn: silent, error: silent };
let handled = 0;
let server: HttpServer;
let address: string;

beforeAll(async () => {
  server = await buildServer({
    contracts: [submit],
    handlers: {
      submit: async ({ caller }: { caller: { platformId: string } }) => {
        handled++;
        return { platform: caller.platformId };
      },
    },
    access: {
      hasTokens: true,
      openOnLoopback: false,
      authenticate: async (token) => {
        if (token === "away") throw Object.assign(new Error("x"), { code: "ECONNREFUSED" });
        return token.startsWith("key")
          ? { name: token, access: ["submit"], platformId: "ddh" }
          : undefined;
      },
    },
    log,
    bodyLimitBytes: 1000,
    timeouts: { headersMs: 200, requestMs: 400, mostConnections: 20 },
    admit: ({ name }) => {
      if (name !== "key-busy") return;
      throw new Problem("TOO_MANY_REQUESTS", "Slower.", [], { retryAfterSeconds: 7 });
    },
  });
  address = (await server.listen({ host: "127.0.0.1", port: 0 })).url;
});
afterAll(() => server.close());

const post = (token: string) =>
  server.inject({
    method: "POST",
    url: "/submit",
    headers: { authorization: `Bearer ${token}` },
    payload: {},
  });

describe("a caller from a database", () => {
  it("comes with its platform", async () => {
    expect((await post("key-1")).json()).toEqual({ platform: "ddh" });
  });

  it("is refused when unknown, and has to wait while the database is down", async () => {
    expect((await post("other")).statusCode).toBe(401);
    expect((await post("away")).json()).toMatchObject({ status: 503, code: "UNAVAILABLE" });
  });

  it("gets the time after which it may try again", async () => {
    const answer = await post("key-busy");
    expect(answer.statusCode).toBe(429);
    expect(answer.headers["retry-after"]).toBe("7");
  });
});

describe("a client that takes its time", () => {
  it.each([
    ["headers", "POST /submit HTTP/1.1\r\nhost: x\r\nx-slow: "],
    [
      "body",
      "POST /submit HTTP/1.1\r\nhost: x\r\nauthorization: Bearer key-1\r\n" +
        "content-type: application/json\r\ncontent-length: 500\r\n\r\n{",
    ],
  ])("with its %s is cut off, and nothing is done", async (_what, text) => {
    const before = handled;
    expect(await sendSlowly(address, text)).toMatch(/^HTTP\/1.1 408/);
    expect(handled).toBe(before);
  });
});
