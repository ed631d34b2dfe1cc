/** Judges the programs of a site: tokens, versions, sandbox, clock, disk, storage and settings. */
import type { Check } from "./check.ts";
import { ok, problem, warning } from "./check.ts";

export interface SiteFacts {
  readonly now: Date;
  readonly tokens: readonly TokenFacts[];
  readonly versions: {
    readonly program: string;
    readonly node: string;
    readonly postgres: number;
    readonly postgresText: string;
    readonly postgis: string | null;
    readonly schema: { readonly version: number; readonly needed: number };
  };
  /** Those that are alive. */
  readonly workers: readonly WorkerFacts[];
  readonly clockOffsetMs: number;
  readonly disk: {
    readonly folder: string;
    readonly freeBytes: number;
    readonly totalBytes: number;
  };
  /** Why a zone cannot be written to; null: it can. */
  readonly zones: Readonly<Record<string, string | null>>;
  /** Bounds of the orchestrator's HTTP server on slow and many clients. */
  readonly limits: {
    readonly headersMs: number;
    readonly requestMs: number;
    readonly mostConnections: number;
  };
  readonly settings: {
    readonly isOpenOnLoopback: boolean;
    readonly listensBeyondLoopback: boolean;
    readonly hasProxy: boolean;
    readonly hasCallbackKey: boolean;
    readonly mayRebuild: boolean;
  };
}

export interface TokenFacts {
  readonly name: string;
  readonly source: "database" | "configuration";
  readonly expires_at: string | null;
  readonly usable: boolean;
}

export interface WorkerFacts {
  readonly worker_id: string;
  readonly version: string;
  readonly gdal: { readonly engine: string; readonly version: string } | null;
  /** How its GDAL processes are confined, as the worker reports it; null: it does not say. */
  readonly sandbox: string | null;
}

const dayMs = 86_400_000;

export function judgeSite(facts: SiteFacts): Check[] {
  return [
    ...judgeTokens(facts),
    ...judgeVersions(facts),
    judgeWorkers(facts),
    judgeSandbox(facts),
    judgeLimits(facts),
    judgeClock(facts),
    judgeDisk(facts),
    ...Object.entries(facts.zones).map(([zone, trouble]) =>
      trouble === null
        ? ok(`storage zone ${zone}`, "works")
        : problem(`storage zone ${zone}`, trouble, "give the orchestrator access to it"),
    ),
    ...judgeSettings(facts),
  ];
}

function judgeTokens({ tokens, now, settings }: SiteFacts): Check[] {
  const usable = tokens.filter((token) => token.usable);
  const soon = usable.filter(
    ({ expires_at }) => expires_at !== null && Date.parse(expires_at) - now.getTime() < 14 * dayMs,
  );
  return [
    judgePermanent(
      usable.filter(({ expires_at }) => expires_at === null),
      settings,
    ),
    soon.length === 0
      ? ok("tokens that expire within 14 days", "none")
      : warning(
          "tokens that expire within 14 days",
          names(soon),
          "make new ones with `rmhdag tokens create`, or name a later day in DAG_SERVICE_TOKENS",
        ),
  ];
}

function names(tokens: readonly TokenFacts[]): string {
  return tokens.map(({ name }) => name).join(", ");
}

/** Those of a local `up` are permanent: they work on its machine only, and are files of its owner. */
function judgePermanent(
  permanent: readonly TokenFacts[],
  { listensBeyondLoopback, hasProxy }: SiteFacts["settings"],
): Check {
  const name = "tokens without an expiry";
  if (permanent.length === 0) return ok(name, "none");
  if (!listensBeyondLoopback && !hasProxy) {
    return ok(name, `${names(permanent)}, which work on this machine only`);
  }
  return warning(
    name,
    names(permanent),
    "give the programs tokens of `rmhdag tokens create`, or add :YYYY-MM-DD to these in DAG_SERVICE_TOKENS",
  );
}

const oldestPostgres = 15;
const oldestNode = [20, 19] as const;

function judgeVersions({ versions }: SiteFacts): Check[] {
  const [major = 0, minor = 0] = versions.node.replace(/^v/, "").split(".").map(Number);
  const isOldNode = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  const { postgresText, postgis, schema } = versions;
  return [
    isOldNode
      ? problem("Node.js", versions.node, `install ${oldestNode.join(".")} or newer`)
      : ok("Node.js", versions.node),
    versions.postgres < oldestPostgres
      ? problem("PostgreSQL", postgresText, `upgrade the server to ${oldestPostgres} or newer`)
      : ok("PostgreSQL", postgresText),
    ok("PostGIS", postgis ?? "not used: layers are stored as WKB with a box"),
    schema.version === schema.needed
      ? ok("schema", `version ${schema.version}`)
      : problem(
          "schema",
          `version ${schema.version}, and the programs need ${schema.needed}`,
          "run `rmhdag migrate`",
        ),
  ];
}

function judgeWorkers({ workers, versions }: SiteFacts): Check {
  const name = "workers";
  if (workers.length === 0) {
    return problem(name, "none is alive", "start one with `rmhdag worker`, or look at its log");
  }
  const others = workers.filter(({ version }) => version !== versions.program);
  const engines = new Set(
    workers.flatMap(({ gdal }) => (gdal === null ? [] : [`GDAL ${gdal.version} (${gdal.engine})`])),
  );
  const found = `${workers.length} alive, ${[...engines].join(", ")}`;
  if (others.length > 0) {
    const list = others.map(({ worker_id, version }) => `${worker_id} ${version}`).join(", ");
    return warning(
      name,
      `${found}; of another version than ${versions.program}: ${list}`,
      "finish the upgrade: restart these workers with the new version",
    );
  }
  if (engines.size > 1) {
    return warning(name, found, "give all workers the same GDAL: results differ between versions");
  }
  return ok(name, found);
}

/** Workers that confine GDAL say how; `off` and `none` are the names for not at all. */
function judgeSandbox({ workers }: SiteFacts): Check {
  const name = "sandbox of GDAL";
  const open = workers.filter(({ sandbox }) => sandbox === "off" || sandbox === "none");
  const silent = workers.filter(({ sandbox }) => sandbox === null);
  if (open.length > 0) {
    return problem(
      name,
      `none on ${open.map(({ worker_id }) => worker_id).join(", ")}`,
      "install bubblewrap there and set GDAL_SANDBOX=require",
    );
  }
  if (silent.length > 0) {
    return warning(
      name,
      `not reported by ${silent.map(({ worker_id }) => worker_id).join(", ")}`,
      "run a version of the worker that reports its sandbox, and files of strangers only there",
    );
  }
  const kinds = [...new Set(workers.map(({ sandbox }) => sandbox ?? ""))];
  return ok(name, kinds.length === 0 ? "no worker" : kinds.join(", "));
}

const longestHeadersMs = 60_000;
const longestRequestMs = 600_000;
const mostConnections = 20_000;

function judgeLimits({ limits }: SiteFacts): Check {
  const name = "limits of the HTTP API";
  const found =
    `${limits.headersMs / 1000} s for headers, ${limits.requestMs / 1000} s for a request, ` +
    `${limits.mostConnections} connections`;
  const isWide =
    limits.headersMs > longestHeadersMs ||
    limits.requestMs > longestRequestMs ||
    limits.mostConnections > mostConnections;
  if (!isWide) return ok(name, found);
  return warning(
    name,
    `${found}: slow clients can take all connections`,
    "lower ORCHESTRATOR_HEADERS_TIMEOUT_SEC, ORCHESTRATOR_REQUEST_TIMEOUT_SEC or " +
      "ORCHESTRATOR_MAX_CONNECTIONS",
  );
}

function judgeClock({ clockOffsetMs }: SiteFacts): Check {
  const name = "clock";
  const seconds = Math.abs(clockOffsetMs) / 1000;
  const direction = clockOffsetMs > 0 ? "ahead of" : "behind";
  const found = `${seconds.toFixed(1)} s ${direction} the database's`;
  const remedy = "synchronise both machines by NTP: signed links and callbacks carry times";
  if (seconds > 5) return problem(name, found, remedy);
  return seconds > 1 ? warning(name, found, remedy) : ok(name, found);
}

const gigabyte = 1024 ** 3;

function judgeDisk({ disk: { folder, freeBytes, totalBytes } }: SiteFacts): Check {
  const name = "disk";
  const percent = totalBytes === 0 ? 0 : Math.round((100 * freeBytes) / totalBytes);
  const found = `${(freeBytes / gigabyte).toFixed(1)} GB (${percent} %) free in ${folder}`;
  const remedy = "free space, or move RMHDAG_DATA_DIR to a larger disk";
  if (freeBytes < gigabyte) return problem(name, found, remedy);
  return percent < 10 ? warning(name, found, remedy) : ok(name, found);
}

function judgeSettings({ settings }: SiteFacts): Check[] {
  const checks: Check[] = [];
  if (settings.isOpenOnLoopback) {
    checks.push(
      warning(
        "access without a token",
        "every program on the orchestrator's machine may do everything",
        "unset RMHDAG_OPEN_ON_LOOPBACK",
      ),
    );
  }
  if (settings.listensBeyondLoopback && !settings.hasProxy) {
    checks.push(
      warning(
        "plain HTTP",
        "the orchestrator listens beyond this machine, and names no proxy",
        "put a proxy with TLS in front of it and name it in RMHDAG_TRUSTED_PROXIES",
      ),
    );
  }
  if (!settings.hasCallbackKey) {
    checks.push(
      warning(
        "callback signatures",
        "there is no key, so callbacks to partners are not sent",
        "set CALLBACK_SIGNING_KEY to at least 32 random characters",
      ),
    );
  }
  if (settings.mayRebuild) {
    checks.push(
      warning(
        "rebuild of the schema",
        "an operator's token can delete all data",
        "unset RMHDAG_ALLOW_REBUILD",
      ),
    );
  }
  return checks;
}
