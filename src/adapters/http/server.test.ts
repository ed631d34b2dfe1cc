import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineContract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { HttpServer } from "./server.ts";
import { buildServer } from "./server.ts";
import { createAccessPolicy, hashToken } from "./tokens.ts";

const echo = defineContract({
  id: "echo",
  method: "POST",
  path: "/things/{name}",
  access: "operate",
  summary: "Gives back.",
  params: z.object({ name: z.string().max(20) }),
  query: z.strictObject({ count: z.coerce.number().int().max(10).optional() }),
  body: z.strictObject({ text: z.string(), size: z.number().int(), data: z.unknown().optional() }),
  response: z.object({ text: z.string() }),
  errors: ["BAD_REQUEST"],
});
const fail = defineContract({
  id: "fail",
  method: "GET",
  path: "/fail",
  access: "public",
  summary: "Fails.",
  query: z.object({ how: z.string() }),
  response: z.object({ fine: z.boolean() }),
  errors: ["INTERNAL"],
});
const head = defineContract({ ...fail, id: "head", path: "/head", headInOutage: 423 });
const missing = defineContract({
  id: "missing",
  method: "GET",
  path: "/missing",
  access: "public",
  summary: "Has no handler.",
  response: z.null(),
  errors: ["INTERNAL"],
});

const failAs = async ({ query }: { query: { how: string } }) => {
  if (query.how === "busy") throw new Problem("TOO_MANY_REQUESTS", "Too many.");
  if (query.how === "wrong answer") return { fine: "yes" };
  if (query.how === "database") throw Object.assign(new Error("x"), { code: "ECONNREFUSED" });
  if (query.how === "cut off") throw new Error("Connection terminated unexpectedly");
  if (query.how === "tables") throw Object.assign(new Error("x"), { code: "42P01" });
  if (query.how === "problem") throw new Problem("JOB_FINISHED", "It is over.");
  throw new Error("the password is hunter2");
};
const handlers = {
  echo: async ({ body }: { body: { text: string } }) => ({ text: body.text }),
  fail: failAs,
  head: failAs,
};

const logged: string[] = [];
const write = (fields: object, message: string) => {
  logged.push(
    `${message} ${JSON.stringify(fields, (_k, v: unknown) => (v instanceof Error ? v.stack : v))}`,
  );
};
const log = { debug: write, info: write, warn: write, error: write };
const auth = { authorization: "Bearer op" };

let server: HttpServer;
beforeAll(async () => {
  server = await buildServer({
    contracts: [echo, fail, head, missing],
    handlers,
    access: createAccessPolicy(
      [
        { name: "op", sha256: hashToken("op"), access: ["read", "operate"] },
        { name: "reader", sha256: hashToken("reader"), access: ["read"] },
      ],
      {
        findSession: async (secret) =>
          secret === "session-of-op" ? { name: "op", access: ["read", "operate"] } : undefined,
      },
    ),
    log,
    bodyLimitBytes: 1000,
    checkAnswers: true,
  });
});
afterAll(() => server.close());

const post = (body: unknown, headers: Record<string, string> = auth, url = "/things/a") =>
  server.inject({
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    payload: typeof body === "string" ? body : JSON.stringify(body),
  });

function problem(answer: { headers: object; json(): unknown }) {
  expect(answer.headers).toMatchObject({
    "content-type": expect.stringContaining("problem+json") as string,
  });
  return answer.json() as {
    code: string;
    status: number;
    detail: string;
    instance: string;
    errors: { pointer: string; code: string; message: string }[];
  };
}

describe("a good request", () => {
  it("is answered, with a request id and the security headers", async () => {
    const answer = await post({ text: "hi", size: 1 });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ text: "hi" });
    expect(answer.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
      "x-request-id": expect.stringMatching(/^[\w-]{36}$/) as string,
    });
  });

  it("keeps a request id that the caller gives, unless it could break a log", async () => {
    const kept = await post({ text: "hi", size: 1 }, { ...auth, "x-request-id": "abc-1" });
    expect(kept.headers["x-request-id"]).toBe("abc-1");
    const made = await post({ text: "hi", size: 1 }, { ...auth, "x-request-id": "a b{}" });
    expect(made.headers["x-request-id"]).not.toBe("a b{}");
  });
});

describe("a bad request", () => {
  it("gets a list of everything that is wrong, by pointer", async () => {
    const answer = await post({ size: 1.5, extra: 1, "a/b": 2 }, auth, "/things/a?count=11&x=1");
    const { code, status, errors } = problem(answer);
    expect([code, status]).toEqual(["BAD_REQUEST", 400]);
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(
      ["/a~1b", "/extra", "/query/count", "/query/x", "/size", "/text"].sort(),
    );
  });

  it.each([
    ["malformed JSON", "{", 400, "BAD_REQUEST"],
    ["a body that is missing", "", 400, "BAD_REQUEST"],
    [
      "a body that is too large",
      JSON.stringify({ text: "x".repeat(2000) }),
      413,
      "PAYLOAD_TOO_LARGE",
    ],
  ])("refuses %s", async (_what, body, status, code) => {
    const answer = await post(body);
    expect(answer.statusCode).toBe(status);
    expect(problem(answer).code).toBe(code);
  });

  it("refuses what is not JSON by its type", async () => {
    const answer = await post("text=hi", {
      ...auth,
      "content-type": "application/x-www-form-urlencoded",
    });
    expect(problem(answer)).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it.each([
    ["a NUL character", '{"text":"a\\u0000b","size":1}', "/text"],
    ["half of a surrogate pair", '{"text":"\\ud800","size":1}', "/text"],
    ["a NUL character in a key", '{"text":"a","size":1,"data":{"x\\u0000":1}}', "/data/x\0"],
    ["__proto__ as a key", '{"text":"a","size":1,"data":{"__proto__":{"x":1}}}', "/data/__proto__"],
  ])("refuses %s, which could not be stored", async (_what, body, pointer) => {
    const { status, errors } = problem(await post(body));
    expect(status).toBe(400);
    expect(errors.map((item) => item.pointer)).toEqual([pointer]);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  it("refuses a body nested too deeply before anything walks it", async () => {
    const deep = `{"text":"a","size":1,"data":${"[".repeat(200)}${"]".repeat(200)}}`;
    expect(problem(await post(deep)).errors[0]).toMatchObject({ code: "DEPTH" });
  });

  it("refuses a NUL character and a broken escape in the address", async () => {
    expect(
      problem(await post({ text: "a", size: 1 }, auth, "/things/a%00b")).errors[0],
    ).toMatchObject({ pointer: "/params/name" });
    expect(problem(await post({ text: "a", size: 1 }, auth, "/things/%zz")).status).toBe(400);
  });

  it("answers 404 and 405 as problems, the latter with what is allowed", async () => {
    expect(problem(await server.inject({ url: "/nothing" }))).toMatchObject({ status: 404 });
    const answer = await server.inject({ method: "DELETE", url: "/things/a" });
    expect(problem(answer)).toMatchObject({ status: 405, code: "METHOD_NOT_ALLOWED" });
    expect(answer.headers.allow).toBe("POST, OPTIONS");
  });

  it("survives a request that is not even HTTP", async () => {
    const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
    const text = await new Promise<string>((resolve) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      let got = "";
      socket.on("data", (data) => (got += data.toString()));
      socket.on("close", () => {
        resolve(got);
      });
      socket.write("NONSENSE\r\n\r\n");
    });
    expect(text).toMatch(/^HTTP\/1.1 400/);
  });
});

describe("access", () => {
  it("asks for a token, refuses an unknown one, and one that may not", async () => {
    const body = { text: "hi", size: 1 };
    const none = await post(body, {});
    expect(problem(none)).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    expect(none.headers["www-authenticate"]).toBe("Bearer");
    const basic = (text: string) => ({
      authorization: `Basic ${Buffer.from(text).toString("base64")}`,
    });
    expect((await post(body, basic("qgis:op"))).statusCode).toBeLessThan(300);
    expect(problem(await post(body, basic("qgis:nope"))).status).toBe(401);
    expect(problem(await post(body, basic("op"))).status).toBe(401);
    expect(problem(await post(body, { authorization: "Bearer nope" })).status).toBe(401);
    expect(problem(await post(body, { authorization: "Bearer reader" }))).toMatchObject({
      status: 403,
      detail: expect.stringContaining("operate") as string,
    });
  });

  it("decides before it reads the body", async () => {
    expect(problem(await post("{", {})).status).toBe(401);
  });

  it("takes the session cookie, but not from a page of another origin", async () => {
    const body = { text: "hi", size: 1 };
    const cookie = "a=b; rmhdag_session=session-of-op";
    const host = "app.example:8000";
    expect((await post(body, { cookie, host })).statusCode).toBe(200);
    const own = { cookie, host, origin: `http://${host}` };
    expect((await post(body, own)).statusCode).toBe(200);
    const foreign = { cookie, host, origin: "http://evil.example" };
    expect(problem(await post(body, foreign)).status).toBe(403);
  });

  it("will not listen beyond this machine without tokens", async () => {
    const open = await buildServer({
      contracts: [missing],
      handlers: {},
      access: createAccessPolicy([], { openOnLoopback: true }),
      log,
    });
    await expect(open.listen({ host: "0.0.0.0", port: 0 })).rejects.toThrow(/configure a token/);
    await open.close();
  });

  it("opens to this machine where configured, but not through another name or another page", async () => {
    const open = await buildServer({
      contracts: [echo],
      handlers,
      access: createAccessPolicy([], { openOnLoopback: true }),
      log,
    });
    const send = (headers: Record<string, string>) =>
      open.inject({ method: "POST", url: "/things/a", headers, payload: { text: "hi", size: 1 } });
    expect((await send({ host: "localhost:8000" })).statusCode).toBe(200);
    expect((await send({ host: "[::1]:8000" })).statusCode).toBe(200);
    expect((await send({ host: "evil.example:8000" })).statusCode).toBe(403);
    const page = { host: "localhost:8000", origin: "https://evil.example" };
    expect((await send(page)).statusCode).toBe(403);
    const proxied = { host: "localhost:8000", "x-forwarded-for": "203.0.113.9" };
    expect((await send(proxied)).statusCode).toBe(401);
    await open.close();
  });
});

describe("an error of ours", () => {
  it("reveals nothing internal, and is in the log under the request's id", async () => {
    const answer = await server.inject({ url: "/fail?how=bug&token=secret1" });
    const { status, instance } = problem(answer);
    expect(status).toBe(500);
    expect(answer.body).not.toContain("hunter2");
    const line = logged.find((each) => each.includes(instance) && each.includes("hunter2"));
    expect(line).toContain("token=[hidden]");
    expect(logged.join("\n")).not.toContain("secret1");
  });

  it("answers a HEAD in an outage as its contract says, and a GET as ever", async () => {
    const ask = async (method: "GET" | "HEAD", url: string) => server.inject({ method, url });
    const away = await ask("HEAD", "/head?how=database");
    expect([away.statusCode, away.headers["retry-after"]]).toEqual([423, "2"]);
    expect((await ask("HEAD", "/head?how=busy")).statusCode).toBe(423);
    expect((await ask("HEAD", "/head?how=problem")).statusCode).toBe(409);
    expect((await ask("GET", "/head?how=database")).statusCode).toBe(503);
    expect((await ask("HEAD", "/fail?how=database")).statusCode).toBe(503);
  });

  it.each([
    ["database", 503, "UNAVAILABLE", /does not answer/],
    ["cut off", 503, "UNAVAILABLE", /does not answer/],
    ["tables", 503, "UNAVAILABLE", /rmhdag migrate/],
    ["problem", 409, "JOB_FINISHED", /It is over/],
    ["wrong answer", 500, "INTERNAL", /request id/],
  ])("maps %s", async (how, status, code, detail) => {
    const found = problem(await server.inject({ url: `/fail?how=${encodeURIComponent(how)}` }));
    expect(found).toMatchObject({ status, code });
    expect(found.detail).toMatch(detail);
  });

  it("notices a contract without a handler", async () => {
    expect(problem(await server.inject({ url: "/missing" })).status).toBe(500);
    expect(logged.join("\n")).toContain("missing has no handler");
  });

  it("never logs a token", () => {
    expect(logged.join("\n")).not.toMatch(/Bearer|rmhdag_session/);
  });
});

describe("closing", () => {
  it("sends the answers that are due, and does not wait for idle connections", async () => {
    const steps = new EventEmitter();
    const slow = await buildServer({
      contracts: [echo],
      handlers: {
        echo: async ({ body }: { body: { text: string } }) => {
          steps.emit("begun");
          await once(steps, "due");
          return { text: body.text };
        },
      },
      access: createAccessPolicy([{ name: "op", sha256: hashToken("op"), access: ["operate"] }]),
      log,
    });
    const { url } = await slow.listen({ host: "127.0.0.1", port: 0 });
    const silent = connect(Number(new URL(url).port), "127.0.0.1");
    await once(silent, "connect");
    const begun = once(steps, "begun");
    const asked = fetch(`${url}/things/a`, {
      method: "POST",
      headers: { ...auth, "content-type": "application/json" },
      body: JSON.stringify({ text: "hi", size: 1 }),
    });
    await begun;
    const closed = slow.close();
    steps.emit("due");
    expect(await (await asked).json()).toEqual({ text: "hi" });
    await closed;
    silent.destroy();
  });
});
