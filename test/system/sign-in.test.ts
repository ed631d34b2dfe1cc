/** Login codes, sessions of the console, and tokens: also as a thief or a careless person would use them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccessPolicy, hashToken, serviceToken } from "../../src/adapters/http/tokens.ts";
import { ApiError } from "../../src/core/api/api-error.ts";
import { createClient } from "../../src/core/api/client.ts";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";

let test: ApiTest;
beforeAll(async () => {
  test = await openApiTest();
});
afterAll(() => test.close());

type Headers = Record<string, string>;

const post = (url: string, payload: object, headers: Headers = {}) =>
  test.api.server.inject({ method: "POST", url, payload, headers });
const get = (url: string, headers: Headers = {}) => test.api.server.inject({ url, headers });

/** The cookie as a browser sends it back. */
function cookieOf(answer: { headers: Record<string, unknown> }): string {
  return String(answer.headers["set-cookie"]).split(";")[0] ?? "";
}

async function signedIn(body: object = { token: tokens.operator }): Promise<string> {
  const answer = await post("/api/v1/session", body);
  expect(answer.statusCode).toBe(200);
  return cookieOf(answer);
}

const statusWith = async (cookie: string) => (await get("/api/v1/jobs", { cookie })).statusCode;

async function refusal(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "accepted",
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );
}

describe("a login code", () => {
  it("opens one session with the rights of its maker, and no second one", async () => {
    const made = await test.operator.createLoginCode();
    expect(made.access).toEqual(["read", "operate"]);
    expect(made.url).toBe(`${test.baseUrl}/ui/login#code=${made.code}`);
    const cookie = await signedIn({ code: made.code.toLowerCase().replaceAll("-", "") });
    const session: unknown = (await get("/api/v1/session", { cookie })).json();
    expect(session).toEqual({ name: "operator", access: ["read", "operate"] });
    expect((await post("/api/v1/session", { code: made.code })).statusCode).toBe(401);
  });

  it("opens one session also when it is used twice at the same moment", async () => {
    const { code } = await test.operator.createLoginCode();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post("/api/v1/session", { code })),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
  });

  it("is refused when it is too old or wrong", async () => {
    const { code } = await test.operator.createLoginCode();
    await test.database.db.query(
      "UPDATE dagapp.login_codes SET created_at = now() - interval '2 h', expires_at = now() - interval '1 s'",
    );
    expect((await post("/api/v1/session", { code })).statusCode).toBe(401);
    expect((await post("/api/v1/session", { code: "AAAA-AAAA-AAAA-AAAA" })).statusCode).toBe(401);
  });

  it("gives no right that its maker does not have, and leads to this server only", async () => {
    expect(await refusal(test.reader.createLoginCode({ body: { access: ["operate"] } }))).toBe(
      "FORBIDDEN",
    );
    for (const next of ["//evil.example/", "https://evil.example/", "/\\evil.example"]) {
      expect(await refusal(test.operator.createLoginCode({ body: { next } }))).toBe("BAD_REQUEST");
    }
  });
});

describe("a session", () => {
  it("has an opaque cookie that no script reads; over https one that no other host can set", async () => {
    const plain = await post("/api/v1/session", { token: tokens.reader });
    expect(plain.headers["set-cookie"]).toMatch(
      /^rmhdag_session=[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict$/,
    );
    const https = { "x-forwarded-proto": "https" };
    const secure = await post("/api/v1/session", { token: tokens.reader }, https);
    expect(secure.headers["set-cookie"]).toMatch(
      /^__Host-rmhdag_session=[\w-]{43}; Path=\/; Max-Age=86400; HttpOnly; SameSite=Strict; Secure$/,
    );
    const cookie = cookieOf(secure);
    expect((await get("/api/v1/jobs", { ...https, cookie })).statusCode).toBe(200);
    const planted = cookie.replace("__Host-", "");
    expect((await get("/api/v1/jobs", { ...https, cookie: planted })).statusCode).toBe(401);
  });

  it("is not the token, and neither secret is in the database or the log", async () => {
    const cookie = await signedIn();
    const secret = cookie.split("=")[1] ?? "";
    expect(secret).not.toContain(tokens.operator);
    expect(await statusWith(`rmhdag_session=${tokens.operator}`)).toBe(401);
    const { rows } = await test.database.db.query<{ text: string }>(
      `SELECT s::text AS text FROM dagapp.console_sessions s
       UNION ALL SELECT c::text FROM dagapp.login_codes c`,
    );
    const stored = rows.map(({ text }) => text).join("\n") + test.api.logged.join("\n");
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(tokens.operator);
  });

  it("is listed, and ends when it is revoked or its user signs out", async () => {
    const cookie = await signedIn();
    const { items } = (await get("/api/v1/sessions", { cookie })).json<{
      items: { session_id: string; current: boolean; active: boolean }[];
    }>();
    const own = items.find(({ current }) => current);
    expect(own).toMatchObject({ name: "operator", active: true, opened_with: "token" });
    const ended = await test.operator.revokeSession({
      params: { session_id: own!.session_id },
    });
    expect(ended).toMatchObject({ active: false, ended_by: "operator" });
    expect(await statusWith(cookie)).toBe(401);

    const second = await signedIn();
    const out = await test.api.server.inject({
      method: "DELETE",
      url: "/api/v1/session",
      headers: { cookie: second },
    });
    expect(out.headers["set-cookie"]).toMatch(/^rmhdag_session=; Path=\/; Max-Age=0/);
    expect(await statusWith(second)).toBe(401);
  });

  it("ends by itself: without requests, and after its longest time", async () => {
    const { db } = test.database;
    for (const change of [
      "last_seen_at = now() - interval '61 min'",
      "created_at = now() - interval '2 days', expires_at = now() - interval '1 s'",
    ]) {
      const cookie = await signedIn();
      expect(await statusWith(cookie)).toBe(200);
      await db.query(`UPDATE dagapp.console_sessions SET ${change}`);
      expect(await statusWith(cookie)).toBe(401);
    }
    const cookie = await signedIn();
    await db.query("UPDATE dagapp.console_sessions SET last_seen_at = now() - interval '50 min'");
    expect(await statusWith(cookie)).toBe(200);
    const { rows } = await db.query(
      "SELECT FROM dagapp.console_sessions WHERE last_seen_at > now() - interval '1 min'",
    );
    expect(rows).toHaveLength(1);
  });

  it("ends with the token that it was opened with, also by a code", async () => {
    const made = await test.operator.createToken({ body: { name: "guest", access: ["read"] } });
    const guest = createClient({ baseUrl: test.baseUrl, token: made.token, fetch });
    const { code } = await guest.createLoginCode();
    const cookies = [await signedIn({ token: made.token }), await signedIn({ code })];
    for (const cookie of cookies) expect(await statusWith(cookie)).toBe(200);
    await test.operator.revokeToken({ params: { token_id: made.token_id ?? "" } });
    for (const cookie of cookies) expect(await statusWith(cookie)).toBe(401);
  });

  it("changes nothing for a page of another site, which cannot sign its own user in either", async () => {
    const cookie = await signedIn();
    const headers = { host: "console.example", cookie };
    const own = { ...headers, origin: "https://console.example" };
    const foreign = { ...headers, origin: "https://evil.example" };
    const body = { name: "stolen", access: ["read"] };
    expect((await post("/api/v1/tokens", body, foreign)).statusCode).toBe(403);
    expect((await post("/api/v1/login-codes", {}, foreign)).statusCode).toBe(403);
    expect((await post("/api/v1/login-codes", {}, own)).statusCode).toBe(201);
    const { code } = await test.operator.createLoginCode();
    expect((await post("/api/v1/session", { code }, foreign)).statusCode).toBe(403);
  });

  it("is not needed for the pages themselves, which come while the database is away", async () => {
    const access = {
      ...createAccessPolicy([]),
      findSession: () => Promise.reject(new Error("the database is away")),
    };
    const away = await test.another({ access });
    const headers = { cookie: "rmhdag_session=any" };
    for (const url of ["/ui", "/livez", "/api/v1/docs"]) {
      expect((await away.server.inject({ url, headers })).statusCode, url).toBe(200);
    }
    expect((await away.server.inject({ url: "/api/v1/session", headers })).statusCode).toBe(500);
    await away.close();
  });
});

describe("a token", () => {
  it("has a name, rights of its maker and an expiry, and works until it is revoked", async () => {
    const made = await test.operator.createToken({
      body: { name: "ci", access: ["read", "operate"] },
    });
    const days = (Date.parse(made.expires_at ?? "") - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(89.9);
    expect(days).toBeLessThan(90.1);
    const ci = createClient({ baseUrl: test.baseUrl, token: made.token, fetch });
    await ci.listJobs();
    const { items } = await ci.listTokens();
    const listed = items.find(({ name }) => name === "ci");
    expect(listed).toMatchObject({ usable: true, created_by: "operator", source: "database" });
    expect(listed?.last_used_at).not.toBeNull();
    expect(
      items.filter(({ source }) => source === "configuration").map(({ name }) => name),
    ).toEqual(["reader", "operator", "curator", "worker"]);
    const { rows } = await test.database.db.query<{ text: string }>(
      "SELECT t::text AS text FROM dagapp.access_tokens t",
    );
    expect(rows.map(({ text }) => text).join("\n")).not.toContain(made.token);
    await test.operator.revokeToken({ params: { token_id: made.token_id ?? "" } });
    expect(await refusal(ci.listJobs())).toBe("UNAUTHENTICATED");
  });

  it("is refused with an expiry in the past or too far away, and after its expiry", async () => {
    const create = (expires_at: string) =>
      refusal(test.operator.createToken({ body: { name: "late", access: ["read"], expires_at } }));
    expect(await create("2020-01-01T00:00:00Z")).toBe("BAD_REQUEST");
    expect(await create("2099-01-01T00:00:00Z")).toBe("BAD_REQUEST");
    expect(await create("2027-01-01T00:00:00+99:99")).toBe("BAD_REQUEST");
    const made = await test.operator.createToken({ body: { name: "late", access: ["read"] } });
    await test.database.db.query(
      `UPDATE dagapp.access_tokens SET created_at = now() - interval '2 h',
         expires_at = now() - interval '1 s' WHERE name = 'late'`,
    );
    const late = createClient({ baseUrl: test.baseUrl, token: made.token, fetch });
    expect(await refusal(late.listJobs())).toBe("UNAUTHENTICATED");
    // Its name is free again.
    await test.operator.createToken({ body: { name: "late", access: ["read"] } });
  });

  it("has neither the name of another nor rights that its maker lacks", async () => {
    const create = (name: string, access: ("read" | "curate" | "service")[]) =>
      refusal(test.operator.createToken({ body: { name, access } }));
    expect(await create("once", ["read"])).toBe("accepted");
    expect(await create("once", ["read"])).toBe("TOKEN_NAME_TAKEN");
    expect(await create("worker", ["read"])).toBe("TOKEN_NAME_TAKEN");
    expect(await create("more", ["curate"])).toBe("FORBIDDEN");
    expect(await create("more", ["service"])).toBe("FORBIDDEN");
    expect(await refusal(test.reader.createToken({ body: { name: "x", access: ["read"] } }))).toBe(
      "FORBIDDEN",
    );
    expect(await refusal(test.reader.listTokens())).toBe("FORBIDDEN");
    expect(await refusal(test.reader.listSessions())).toBe("FORBIDDEN");
  });

  it("of the configuration expires on its day", () => {
    const sha256 = hashToken("secret");
    const parsed = serviceToken.parse(`ci:read+operate:${sha256}:2027-01-31`);
    const at = (day: string) =>
      createAccessPolicy([parsed], { clock: { now: () => new Date(day) } }).authenticate("secret");
    expect(at("2027-01-30T23:59:59Z")).toMatchObject({ name: "ci", access: ["read", "operate"] });
    expect(at("2027-01-31T00:00:00Z")).toBeUndefined();
    expect(serviceToken.safeParse(`ci:read:${sha256}:2027-02-31`).success).toBe(false);
    expect(serviceToken.parse(`ci:read:${sha256}`)).not.toHaveProperty("expiresAt");
  });
});
