/**
 * Requests that Schemathesis and attackers found, to the whole API on a real database: each is refused
 * with its 4xx, quickly, and none is answered 5xx.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ApiTest } from "../support/api.ts";
import { openApiTest, tokens } from "../support/api.ts";
import { Fleet } from "../support/programs.ts";
import { waitFor } from "../support/wait.ts";
import { sendSlowly } from "../support/send-slowly.ts";

let test: ApiTest;
beforeAll(async () => {
  test = await openApiTest();
});
afterAll(() => test.close());

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly code: string | undefined;
  readonly errors: readonly object[];
  readonly ms: number;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  token = tokens.operator,
): Promise<Reply> {
  const began = performance.now();
  const answer = await fetch(test.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isProblem = answer.headers.get("content-type")?.startsWith("application/problem+json");
  const found = (isProblem === true ? JSON.parse(text) : {}) as {
    code?: string;
    errors?: object[];
  };
  return {
    status: answer.status,
    headers: answer.headers,
    code: found.code,
    errors: found.errors ?? [],
    ms: performance.now() - began,
  };
}

const search = (body: object) => ["POST", "/stac/search", body] as const;
const filter = (text: string) =>
  ["GET", `/stac/search?filter=${encodeURIComponent(text)}`] as const;
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const many = (count: number, make: (n: number) => unknown) =>
  Array.from({ length: count }, (_, n) => make(n));
const key = (expires_at: string) => ({
  platform_id: "ddh",
  name: "x",
  scopes: ["read"],
  expires_at,
});
const unclosed = {
  type: "Polygon",
  coordinates: [[[0, 0], [1, 0], [1, 1], [0, 1]]], // prettier-ignore
};

describe("a request that is refused", () => {
  it.each<[string, readonly [string, string, unknown?], string]>([
    [
      "an offset of 17 hours",
      ["GET", "/api/v1/jobs?created_after=2024-01-01T00:00:00%2B17:11"],
      "BAD_REQUEST",
    ],
    ["the year 0", ["GET", "/api/v1/jobs?created_before=0000-01-01T00:00:00Z"], "BAD_REQUEST"],
    [
      "an offset of 17 hours in a key",
      ["POST", "/api/v1/keys", key("2099-01-01T00:00:00+17:11")],
      "BAD_REQUEST",
    ],
    [
      "an offset of 17 hours in a search",
      ["GET", "/stac/search?datetime=2024-01-01T00:00:00%2B17:11"],
      "BAD_REQUEST",
    ],
    [
      "a day that does not exist",
      ["GET", "/stac/search?datetime=2023-02-30T00:00:00Z"],
      "BAD_REQUEST",
    ],
    [
      "an offset of 17 hours in a filter",
      filter("datetime > TIMESTAMP('2024-01-01T00:00:00+17:11')"),
      "INVALID_FILTER",
    ],
    [
      "a day that does not exist in a filter",
      filter("datetime > DATE('2023-02-30')"),
      "INVALID_FILTER",
    ],
    ["a number beyond all numbers in a filter", filter("1e308 * 1e308 > 1"), "INVALID_FILTER"],
    ["a number too small in a filter", filter("1e-300 * 1e-300 > 1"), "INVALID_FILTER"],
    ["a pattern that ends with a backslash", filter("'ab' LIKE 'a\\'"), "INVALID_FILTER"],
    [
      "a filter that is nested deeply",
      filter(`${"(".repeat(3000)}1=1${")".repeat(3000)}`),
      "INVALID_FILTER",
    ],
    [
      "a filter of collections in collections",
      filter(
        `S_INTERSECTS(geometry, ${"GEOMETRYCOLLECTION(".repeat(300)}POINT(1 1)${")".repeat(300)})`,
      ),
      "INVALID_FILTER",
    ],
    [
      "JSON that is nested deeply in an address",
      ["GET", `/stac/search?intersects=${nested(6000)}`],
      "INVALID_FILTER",
    ],
    [
      "a filter as JSON that is nested deeply",
      ["GET", `/stac/search?filter-lang=cql2-json&filter={"op":"=","args":[${nested(6000)},1]}`],
      "INVALID_FILTER",
    ],
    [
      "a filter with thousands of conditions",
      search({
        filter: { op: "or", args: many(2000, (n) => ({ op: "=", args: [{ property: "a" }, n] })) },
      }),
      "INVALID_FILTER",
    ],
    [
      "a filter with a list of thousands",
      search({ filter: { op: "in", args: [{ property: "a" }, many(5000, (n) => n)] } }),
      "INVALID_FILTER",
    ],
    [
      "a query with thousands of properties",
      search({
        query: Object.fromEntries(
          many(2000, (n) => [`p${String(n)}`, { eq: 1 }]) as [string, object][],
        ),
      }),
      "INVALID_FILTER",
    ],
    [
      "a geometry with a hundred thousand numbers",
      search({ intersects: { type: "MultiPoint", coordinates: many(100_000, () => 1) } }),
      "INVALID_FILTER",
    ],
    [
      "many geometries that are too large together",
      search({
        filter: {
          op: "or",
          args: many(3, () => ({
            op: "s_intersects",
            args: [
              { property: "geometry" },
              { type: "MultiPoint", coordinates: many(4000, (n) => [n / 100, 1]) },
            ],
          })),
        },
      }),
      "INVALID_FILTER",
    ],
    ["a ring that is not closed", search({ intersects: unclosed }), "INVALID_FILTER"],
    ["ten thousand ids", search({ ids: many(10_000, String) }), "BAD_REQUEST"],
    [
      "a list where an object belongs",
      ["POST", "/api/v1/jobs", many(10_000, () => 1)],
      "BAD_REQUEST",
    ],
    [
      "7.8 MB to the public search",
      ["POST", "/stac/search", `{"ids":[${"1,".repeat(3_900_000)}1]}`],
      "PAYLOAD_TOO_LARGE",
    ],
    ["a long path parameter", ["GET", `/stac/collections/${"x".repeat(3000)}`], "BAD_REQUEST"],
    ["a number in another notation", ["GET", "/api/v1/jobs?limit=0x10"], "BAD_REQUEST"],
    [
      "references that are nested deeply",
      ["GET", `/api/v1/assets?refs=${nested(900)}`],
      "BAD_REQUEST",
    ],
    [
      "a zoom beyond that of the tiles",
      ["GET", "/tiles/00000000000000000000000000000000/tiles/WebMercatorQuad/25/0/0.png"],
      "BAD_REQUEST",
    ],
    [
      "a workflow of unknown keys",
      [
        "POST",
        "/api/v1/jobs",
        Object.fromEntries(many(60_000, (n) => [`k${String(n)}`, 1]) as [string, number][]),
      ],
      "BAD_REQUEST",
    ],
  ])("with %s", async (_what, [method, path, body], code) => {
    const reply = await call(method, path, body);
    expect([reply.status < 500, reply.code]).toEqual([true, code]);
    expect(reply.errors.length).toBeLessThanOrEqual(100);
    expect(reply.ms).toBeLessThan(4000);
  });
});

describe("work that is refused", () => {
  it("with 60,000 unknown inputs takes no time from others", async () => {
    const inputs = Object.fromEntries(
      many(60_000, (n) => [`unknown_input_${String(n)}`, 1]) as [string, number][],
    );
    const jobs = await call("POST", "/api/v1/jobs", { workflow_id: "vector_etl", inputs });
    expect(jobs.code).toBe("INVALID_INPUTS");
    expect(jobs.ms).toBeLessThan(2500);
    const asset = await call("POST", "/api/v1/submit", {
      platform_id: "ddh",
      platform_refs: inputs,
      version_label: "1",
      workflow_id: "vector_etl",
      inputs,
    });
    expect(asset.code).toBe("INVALID_SUBMISSION");
    expect(asset.errors.length).toBeLessThanOrEqual(100);
    expect(asset.ms).toBeLessThan(2500);
  });

  it("for workflows that do not exist does not read all files again for each", async () => {
    const body = { jobs: many(500, () => ({ workflow_id: "nothing" })) };
    const batch = await call("POST", "/api/v1/jobs/batch", body);
    expect(batch.status).toBe(200);
    expect(batch.ms).toBeLessThan(3000);
  });

  it("of a workflow text with a hundred thousand mistakes is answered", async () => {
    const text = many(100_000, (n) => `k${String(n)}: 1`).join("\n");
    const reply = await call("POST", "/api/v1/workflows/validate", { text });
    expect(reply.status).toBe(200);
  });
});

const worker = { worker_id: "w", queues: ["q"], handlers: [] };
it.each([
  ["a handler twice", "register", { ...worker, handlers: [{ name: "a.b" }, { name: "a.b" }] }],
  [
    "an example without parameters",
    "register",
    { ...worker, handlers: [{ name: "a.b", examples: [{ params: null }] }] },
  ],
  ["a process id that no system has", "register", { ...worker, pid: 2 ** 40 }],
  ["more tasks than can be counted", "renew", { worker_id: "w", busy: 524_136_365_400 }],
])("a worker that sends %s is refused", async (_what, route, body) => {
  const reply = await call("POST", `/api/v1/worker/${route}`, body, tokens.worker);
  expect([reply.status, reply.code, reply.errors.length]).toEqual([400, "BAD_REQUEST", 1]);
});

it("progress that is smaller than the database can store is rounded", async () => {
  const body = { task_id: "0", job_id: "0", node_id: "0", percent: 2.2250738585e-313 };
  const path = "/api/v1/callbacks/task-progress";
  expect((await call("POST", path, body, tokens.worker)).status).toBe(200);
});

describe("API keys", () => {
  it("cannot be expired from the start", async () => {
    const past = await call("POST", "/api/v1/keys", key("2020-01-01T00:00:00Z"));
    expect(past).toMatchObject({ status: 400, code: "BAD_REQUEST" });
    expect(past.errors).toMatchObject([{ pointer: "/expires_at", code: "PAST" }]);
    expect((await call("POST", "/api/v1/keys", key("2099-01-01T00:00:00Z"))).status).toBe(201);
  });

  it("are at most a hundred valid ones a platform, also when many are asked for at once", async () => {
    await test.database.db.query(
      `INSERT INTO dagapp.api_keys (key_id, platform_id, name, key_hash, scopes, created_by, revoked_at, revoked_by)
       SELECT lpad(to_hex(n), 12, '0'), 'arcgis', 'x', lpad(to_hex(n), 64, '0'), '{read}', 'test',
         CASE WHEN n > 95 THEN now() END, CASE WHEN n > 95 THEN 'test' END
       FROM generate_series(1, 200) AS n`,
    );
    const body = { platform_id: "arcgis", name: "x", scopes: ["read"] };
    const replies = await Promise.all(
      many(10, () => call("POST", "/api/v1/keys", body)) as Promise<Reply>[],
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(5);
    expect(replies.filter(({ code }) => code === "TOO_MANY_KEYS")).toHaveLength(5);
    const rotated = await call("POST", `/api/v1/keys/${"1".padStart(12, "0")}/rotate`, {});
    expect(rotated.code).toBe("TOO_MANY_KEYS");
    await call("POST", `/api/v1/keys/${"2".padStart(12, "0")}/revoke`, {});
    expect((await call("POST", "/api/v1/keys", body)).status).toBe(201);
  });
});

describe("a database that cannot work", () => {
  const submission = () => ({
    workflow_id: "hello_world",
    idempotency_key: randomBytes(8).toString("hex"),
  });
  const run = (text: string) => test.database.db.query(text);
  const name = () => new URL(test.database.url).pathname.slice(1);
  /** Ends the other sessions, which keep the settings that they began with. */
  const reconnect = () =>
    run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`);

  /** Waits until no connection is left in the server's pool that the database has ended already. */
  const acceptsSubmissions = () =>
    waitFor(async () => (await call("POST", "/api/v1/jobs", submission())).status === 202, {
      what: "a submission that is accepted",
    });

  async function expectOutage(detail: RegExp): Promise<void> {
    const answer = await fetch(`${test.baseUrl}/api/v1/jobs`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens.operator}`, "content-type": "application/json" },
      body: JSON.stringify(submission()),
    });
    expect(await answer.json()).toMatchObject({
      status: 503,
      code: "UNAVAILABLE",
      detail: expect.stringMatching(detail) as string,
    });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }

  it("because it is read-only answers 503", async () => {
    await run(`ALTER DATABASE ${name()} SET default_transaction_read_only = on`);
    await reconnect();
    try {
      await vi.waitFor(() => expectOutage(/read-only/), 10_000);
    } finally {
      await run(`SET default_transaction_read_only = off`).catch(() => undefined);
      await test.database.db.transaction(async (tx) => {
        await tx.query("SET TRANSACTION READ WRITE");
        await tx.query(`ALTER DATABASE ${name()} RESET default_transaction_read_only`);
      });
      await reconnect();
    }
    await acceptsSubmissions();
  });

  it.each([
    ["its disk is full", "53100", /disk/],
    ["it took too long", "57014", /too long/],
    ["it has no memory", "53200", /does not answer/],
    ["it cannot read its files", "58030", /does not answer/],
  ])("because %s answers 503", async (_why, code, detail) => {
    await run(`CREATE FUNCTION dagapp.fail_test() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'test' USING ERRCODE = '${code}'; END $$`);
    await run(`CREATE TRIGGER fail_test BEFORE INSERT ON dagapp.dag_jobs
      FOR EACH STATEMENT EXECUTE FUNCTION dagapp.fail_test()`);
    try {
      await expectOutage(detail);
    } finally {
      await run("DROP FUNCTION dagapp.fail_test CASCADE");
    }
  });

  it("because a lock is held for longer than a statement may take answers 503", async () => {
    await run(`ALTER DATABASE ${name()} SET statement_timeout = '300ms'`);
    await reconnect();
    try {
      await test.database.db.transaction(async (tx) => {
        await tx.query("LOCK TABLE dagapp.dag_jobs IN ACCESS EXCLUSIVE MODE");
        await vi.waitFor(() => expectOutage(/too long/), 10_000);
      });
    } finally {
      await run(`ALTER DATABASE ${name()} RESET statement_timeout`);
      await reconnect();
    }
    await acceptsSubmissions();
  });

  it("because its connections end in the middle of a request answers 503", async () => {
    await test.database.db.transaction(async (tx) => {
      await tx.query("LOCK TABLE dagapp.dag_jobs IN ACCESS EXCLUSIVE MODE");
      let answered = false;
      const asked = expectOutage(/does not answer/).finally(() => (answered = true));
      // Other programs of the orchestrator wait for the lock too: all are ended until the answer is there.
      await waitFor(
        async () => {
          await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'`);
          return answered;
        },
        { what: "an answer to the submission that waits for the lock" },
      );
      await asked;
    });
  });
});

describe("an orchestrator as a program", () => {
  it("cuts off a client that takes its time with the headers or the body", async () => {
    const fleet = new Fleet(test.database.url);
    try {
      const { url } = await fleet.orchestrator({
        ORCHESTRATOR_HEADERS_TIMEOUT_SEC: "0.3",
        ORCHESTRATOR_REQUEST_TIMEOUT_SEC: "0.6",
      });
      const start = "POST /stac/search HTTP/1.1\r\nhost: localhost\r\n";
      for (const text of [
        `${start}x-slow: `,
        `${start}content-type: application/json\r\ncontent-length: 500\r\n\r\n{`,
      ]) {
        const reply = await sendSlowly(url, text);
        expect(reply).toMatch(/^HTTP\/1.1 408/);
        expect(reply).toContain('"code":"REQUEST_TIMEOUT"');
      }
    } finally {
      await fleet.stop();
    }
  });
});
