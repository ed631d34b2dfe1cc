/** Requests that are too large, too many or malformed: each is answered 4xx as problem+json. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineContract } from "../../core/api/contract.ts";
import type { HttpServer } from "./server.ts";
import { buildServer } from "./server.ts";
import { createAccessPolicy } from "./tokens.ts";

const common = {
  access: "public",
  summary: "For a test.",
  response: z.looseObject({}),
  errors: ["NOT_FOUND"],
} as const;
const contracts = [
  defineContract({
    ...common,
    id: "put",
    method: "POST",
    path: "/things",
    body: z.strictObject({ text: z.string().optional() }),
  }),
  defineContract({
    ...common,
    id: "putLarge",
    method: "POST",
    path: "/things/batch",
    body: z.strictObject({ text: z.string() }),
    bodyLimit: 200_000,
  }),
  defineContract({
    ...common,
    id: "get",
    method: "GET",
    path: "/things/{name}",
    params: z.object({ name: z.string().max(20) }),
  }),
  defineContract({ ...common, id: "drop", method: "DELETE", path: "/things/{name}" }),
] as const;

const silent = () => undefined;
const answer = async () => ({ fine: true });
let server: HttpServer;
let url: URL;

beforeAll(async () => {
  server = await buildServer({
    contracts,
    handlers: { put: answer, putLarge: answer, get: answer, drop: answer },
    access: createAccessPolicy([], { openOnLoopback: true }),
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  url = new URL((await server.listen({ host: "127.0.0.1", port: 0 })).url);
});
afterAll(() => server.close());

interface Reply {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly problem: {
    readonly code?: string;
    readonly detail?: string;
    readonly errors?: object[];
  };
}

/** Bytes to a socket, because clients refuse to send most of this. */
async function send(text: string | Buffer): Promise<Reply> {
  const socket = connect(Number(url.port), url.hostname);
  let got = "";
  socket.on("data", (chunk: Buffer) => (got += chunk.toString())).on("error", silent);
  await once(socket, "connect");
  socket.write(text);
  await once(socket, "close");
  const [head = "", body = ""] = got.split("\r\n\r\n", 2);
  const [first = "", ...lines] = head.split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()] as const;
    }),
  );
  const isProblem = headers.get("content-type")?.startsWith("application/problem+json") === true;
  return {
    status: Number(first.split(" ")[1]),
    headers,
    problem: isProblem ? (JSON.parse(body) as Reply["problem"]) : {},
  };
}

function request(method: string, path: string, headers: string[] = [], body = ""): string {
  const length = body === "" ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  const lines = ["host: localhost", "connection: close", ...headers, ...length];
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}
const json = "content-type: application/json";

describe("a malformed request", () => {
  const post = (...headers: string[]) => request("POST", "/things", headers, "{}");
  it.each<[string, string, number, string]>([
    [
      "a path parameter of 5000 characters",
      request("GET", `/things/${"x".repeat(5000)}`),
      400,
      "BAD_REQUEST",
    ],
    ["bad percent-encoding", request("GET", "/things/%zz"), 400, "BAD_REQUEST"],
    ["half of an encoded character", request("GET", "/things/%c3"), 400, "BAD_REQUEST"],
    ["a NUL character in the path", request("GET", "/things/a%00"), 400, "BAD_REQUEST"],
    [
      "headers of 20 kB",
      request("GET", "/things/a", [`x-large: ${"x".repeat(20_000)}`]),
      431,
      "HEADERS_TOO_LARGE",
    ],
    [
      "an address of 20 kB",
      request("GET", `/things/a?${"x".repeat(20_000)}`),
      431,
      "HEADERS_TOO_LARGE",
    ],
    ["a NUL character in a header", request("GET", "/things/a", ["x-a: \0"]), 400, "BAD_REQUEST"],
    ["a method that does not exist", request("FROB", "/things/a"), 400, "BAD_REQUEST"],
    ["no HTTP at all", "hello\r\n\r\n", 400, "BAD_REQUEST"],
    [
      "a length that is no number",
      "POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: ten\r\n\r\n{}",
      400,
      "BAD_REQUEST",
    ],
    [
      "two lengths and chunks",
      "POST /things HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}",
      400,
      "BAD_REQUEST",
    ],
    ["a type that is unknown", post("content-type: text/xml"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["a type that is no type", post("content-type: ;;;"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["no type", post(), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["a method that the path has not", request("PUT", "/things/a"), 405, "METHOD_NOT_ALLOWED"],
    [
      "a body of 70 kB",
      request("POST", "/things", [json], `{"text":"${"x".repeat(70_000)}"}`),
      413,
      "PAYLOAD_TOO_LARGE",
    ],
    ["JSON that ends early", request("POST", "/things", [json], '{"text":"'), 400, "BAD_REQUEST"],
  ])("with %s gets its 4xx as a problem", async (_what, text, status, code) => {
    const reply = await send(text);
    expect([reply.status, reply.problem.code]).toEqual([status, code]);
    expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
    expect(reply.headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
  });
});

describe("a body", () => {
  const large = `{"text":"${"x".repeat(100_000)}"}`;
  it("may be larger where the contract says so, and the refusal names the limit", async () => {
    expect((await send(request("POST", "/things/batch", [json], large))).status).toBe(200);
    const refused = await send(request("POST", "/things", [json], large));
    expect(refused.problem.detail).toContain("65536 bytes");
  });

  it("with thousands of unknown keys is refused at once, with a short list", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 7000 }, (_, n) => [`${n}`, 1]));
    const began = performance.now();
    const few = await send(request("POST", "/things", [json], JSON.stringify(unknown)));
    expect(few.status).toBe(400);
    expect(few.problem.errors).toHaveLength(50);
    expect(few.problem.detail).toBe(
      "7000 values are not as they should be; the first 50 are listed.",
    );
    expect(performance.now() - began).toBeLessThan(1000);
  });
});

describe("the methods of a path", () => {
  const allow = async (method: string, path: string) => {
    const { status, headers } = await send(request(method, path));
    return [status, headers.get("allow")];
  };

  it("are named by 405 and by OPTIONS", async () => {
    const methods = "GET, HEAD, DELETE, OPTIONS";
    expect(await allow("PUT", "/things/a")).toEqual([405, methods]);
    expect(await allow("OPTIONS", "/things/a")).toEqual([204, methods]);
    expect(await allow("TRACE", "/things/a")).toEqual([405, methods]);
    expect(await allow("OPTIONS", "/nothing")).toEqual([404, undefined]);
  });

  it("are those of the path itself and not of a parameter in its place", async () => {
    expect(await allow("OPTIONS", "/things/batch")).toEqual([204, "POST, OPTIONS"]);
    expect(await allow("GET", "/things/batch")).toEqual([405, "POST, OPTIONS"]);
  });
});
