import { describe, expect, it } from "vitest";
import type { Check } from "./check.ts";
import type { DatabaseFacts } from "./judge-database.ts";
import { judgeDatabase } from "./judge-database.ts";
import type { SiteFacts } from "./judge-site.ts";
import { judgeSite } from "./judge-site.ts";

const plain = { isSuperuser: false, mayCreateRoles: false };
const database: DatabaseFacts = {
  isRemote: true,
  isEncrypted: true,
  verifiesServer: true,
  connections: { used: 20, most: 97 },
  programs: [
    { program: "orchestrator", user: "o", ...plain },
    { program: "worker", user: "w", ...plain },
  ],
  missingRoles: [],
  wrongRights: [],
  notVacuumed: [],
  gatewayLogins: [
    {
      user: "g",
      connections: 40,
      statementTimeout: "30s",
      otherDatabases: [],
      limitConnections: "limit its connections",
      limitTime: "limit its statements",
    },
  ],
};

const gigabyte = 1024 ** 3;
const site: SiteFacts = {
  now: new Date("2026-11-16T00:00:00Z"),
  tokens: [
    { name: "ci", source: "database", expires_at: "2027-01-01T00:00:00Z", usable: true },
    { name: "old", source: "configuration", expires_at: null, usable: false },
  ],
  versions: {
    program: "1.0.0",
    node: "v20.19.0",
    postgres: 15,
    postgresText: "15.18",
    postgis: "3.3.2",
    schema: { version: 9, needed: 9 },
  },
  workers: [
    {
      worker_id: "heavy-1",
      version: "1.0.0",
      gdal: { engine: "native", version: "3.6.2" },
      sandbox: "bubblewrap",
    },
  ],
  clockOffsetMs: 12,
  disk: { folder: "/data", freeBytes: 200 * gigabyte, totalBytes: 400 * gigabyte },
  zones: { silver: null, gold: null },
  limits: { headersMs: 10_000, requestMs: 30_000, mostConnections: 2000 },
  settings: {
    isOpenOnLoopback: false,
    listensBeyondLoopback: false,
    hasProxy: false,
    hasCallbackKey: true,
    mayRebuild: false,
  },
};

const bad = (checks: readonly Check[]) => checks.filter(({ status }) => status !== "ok");

describe("a good deployment", () => {
  it("has neither a problem nor a warning", () => {
    expect(bad([...judgeDatabase(database), ...judgeSite(site)])).toEqual([]);
  });
});

describe("a database", () => {
  const [orchestrator] = database.programs;
  it.each<[string, Partial<DatabaseFacts>, string, RegExp]>([
    [
      "a superuser",
      { programs: [{ ...orchestrator!, isSuperuser: true }] },
      "database users",
      /deploy\/roles\.sql/,
    ],
    [
      "a user who makes roles",
      { programs: [{ ...orchestrator!, mayCreateRoles: true }] },
      "database users",
      /own login/,
    ],
    ["missing roles", { missingRoles: ["rmhdag_worker"] }, "database rights", /deploy\/roles\.sql/],
    [
      "wrong rights",
      { wrongRights: ["rmhdag_worker has SELECT on dagapp.api_keys"] },
      "database rights",
      /rmhdag migrate/,
    ],
    [
      "tables that are not vacuumed",
      { notVacuumed: ["dag_queue_ready"] },
      "vacuum of the queues",
      /rmhdag migrate/,
    ],
    ["plain text", { isEncrypted: false }, "connection to the database", /verify-full/],
    [
      "an unverified server",
      { verifiesServer: false },
      "connection to the database",
      /verify-full/,
    ],
    [
      "few connections left",
      { connections: { used: 90, most: 97 } },
      "connections of the database",
      /max_connections/,
    ],
  ])("with %s has a problem", (_what, change, name, remedy) => {
    expect(bad(judgeDatabase({ ...database, ...change }))).toEqual([
      {
        name,
        status: "problem",
        found: expect.any(String) as string,
        remedy: expect.stringMatching(remedy) as string,
      },
    ]);
  });

  it("on the same machine needs no encryption", () => {
    expect(bad(judgeDatabase({ ...database, isRemote: false, isEncrypted: false }))).toEqual([]);
  });

  it("limits the gateway's login in every way", () => {
    const login = {
      ...database.gatewayLogins[0]!,
      connections: -1,
      statementTimeout: "0",
      otherDatabases: ["hr"],
    };
    expect(bad(judgeDatabase({ ...database, gatewayLogins: [login] }))).toMatchObject([
      {
        status: "problem",
        found: "no connection limit, no statement timeout, may connect to hr",
        remedy: expect.stringMatching(
          /limit its connections.*limit its statements.*close-databases/,
        ) as string,
      },
    ]);
  });
});

describe("a site", () => {
  const [worker] = site.workers;
  it.each<[string, Partial<SiteFacts>, string, "problem" | "warning"]>([
    ["an old Node", { versions: { ...site.versions, node: "v20.18.3" } }, "Node.js", "problem"],
    [
      "an old PostgreSQL",
      { versions: { ...site.versions, postgres: 14 } },
      "PostgreSQL",
      "problem",
    ],
    [
      "an old schema",
      { versions: { ...site.versions, schema: { version: 8, needed: 9 } } },
      "schema",
      "problem",
    ],
    ["no worker", { workers: [] }, "workers", "problem"],
    [
      "a worker of another version",
      { workers: [{ ...worker!, version: "0.9.0" }] },
      "workers",
      "warning",
    ],
    ["no sandbox", { workers: [{ ...worker!, sandbox: "off" }] }, "sandbox of GDAL", "problem"],
    [
      "an unknown sandbox",
      { workers: [{ ...worker!, sandbox: null }] },
      "sandbox of GDAL",
      "warning",
    ],
    [
      "no limit on slow clients",
      { limits: { ...site.limits, headersMs: 3_600_000 } },
      "limits of the HTTP API",
      "warning",
    ],
    ["a slow clock", { clockOffsetMs: -6000 }, "clock", "problem"],
    ["a clock that is a little fast", { clockOffsetMs: 2000 }, "clock", "warning"],
    ["a full disk", { disk: { ...site.disk, freeBytes: gigabyte / 2 } }, "disk", "problem"],
    ["a disk that fills", { disk: { ...site.disk, freeBytes: 20 * gigabyte } }, "disk", "warning"],
    ["a closed zone", { zones: { gold: "EACCES" } }, "storage zone gold", "problem"],
    [
      "open access",
      { settings: { ...site.settings, isOpenOnLoopback: true } },
      "access without a token",
      "warning",
    ],
    [
      "plain HTTP",
      { settings: { ...site.settings, listensBeyondLoopback: true } },
      "plain HTTP",
      "warning",
    ],
    [
      "no key for callbacks",
      { settings: { ...site.settings, hasCallbackKey: false } },
      "callback signatures",
      "warning",
    ],
    [
      "a rebuild that is allowed",
      { settings: { ...site.settings, mayRebuild: true } },
      "rebuild of the schema",
      "warning",
    ],
  ])("with %s is told what to change", (_what, change, name, status) => {
    expect(bad(judgeSite({ ...site, ...change }))).toEqual([
      { name, status, found: expect.any(String) as string, remedy: expect.any(String) as string },
    ]);
  });

  it("names tokens without an expiry and tokens that expire soon", () => {
    const tokens = [
      { name: "cli", source: "configuration", expires_at: null, usable: true },
      { name: "ci", source: "database", expires_at: "2026-11-20T00:00:00Z", usable: true },
    ] as const;
    const told = (settings: Partial<SiteFacts["settings"]>) => {
      const facts = { ...site, tokens, settings: { ...site.settings, ...settings } };
      return bad(judgeSite(facts)).map(({ name, found }) => [name, found]);
    };
    const soon = ["tokens that expire within 14 days", "ci"];
    expect(told({ hasProxy: true })).toEqual([["tokens without an expiry", "cli"], soon]);
    // Those of a local `up` cannot be used from elsewhere.
    expect(told({})).toEqual([soon]);
  });
});
