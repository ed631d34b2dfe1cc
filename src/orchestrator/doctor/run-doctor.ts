import { randomBytes } from "node:crypto";
import { mkdir, statfs } from "node:fs/promises";
import { isLoopback } from "../../adapters/http/access.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import {
  readClockOffset,
  readConnection,
  readGatewayLogins,
  readNotVacuumed,
  readPrograms,
} from "../../adapters/postgres/queries/deployment.ts";
import type { WorkerRow } from "../../adapters/postgres/queries/fleet.ts";
import { listWorkers } from "../../adapters/postgres/queries/fleet.ts";
import { readSchemaStatus } from "../../adapters/postgres/queries/schema.ts";
import type { RightDifference } from "../../adapters/postgres/roles/read-rights.ts";
import { readRights } from "../../adapters/postgres/roles/read-rights.ts";
import { vacuumedTables } from "../../adapters/postgres/roles/rights.ts";
import { zones } from "../../adapters/storage/storage.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { Check } from "../../core/doctor/check.ts";
import type { DatabaseFacts } from "../../core/doctor/judge-database.ts";
import { judgeDatabase } from "../../core/doctor/judge-database.ts";
import type { SiteFacts } from "../../core/doctor/judge-site.ts";
import { judgeSite } from "../../core/doctor/judge-site.ts";
import type { SignInDeps } from "../sign-in/deps.ts";
import { showTokens } from "../sign-in/tokens.ts";

export interface DoctorDeps {
  readonly db: Database;
  readonly storage: Storage;
  readonly signIn: SignInDeps;
  readonly version: string;
  readonly databaseUrl: string;
  readonly dataFolder: string;
  readonly limits: SiteFacts["limits"];
  readonly settings: SiteFacts["settings"];
}

/** Looks at the whole deployment from this orchestrator; core/doctor judges what was found. */
export async function runDoctor(deps: DoctorDeps): Promise<Check[]> {
  const connection = await readConnection(deps.db);
  const [database, site] = await Promise.all([
    readDatabase(deps, connection),
    readSite(deps, connection),
  ]);
  return [...judgeDatabase(database), ...judgeSite(site)];
}

type Connection = Awaited<ReturnType<typeof readConnection>>;

async function readDatabase(
  { db, databaseUrl }: DoctorDeps,
  { is_encrypted, used, most }: Connection,
): Promise<DatabaseFacts> {
  const { hostname, searchParams } = new URL(databaseUrl);
  const rights = await readRights(db);
  const hasGateway = !rights.missingRoles.includes("rmhdag_gateway");
  return {
    isRemote: hostname !== "" && !isLoopback(hostname),
    isEncrypted: is_encrypted,
    verifiesServer: verifiesServer(searchParams),
    connections: { used, most },
    programs: await readPrograms(db),
    missingRoles: rights.missingRoles,
    wrongRights: rights.rights.map(describeDifference),
    notVacuumed: await readNotVacuumed(db, vacuumedTables),
    gatewayLogins: hasGateway ? await readGatewayLogins(db) : [],
  };
}

/** The driver verifies the certificate, but for one mode and where it is told to do as libpq does. */
function verifiesServer(parameters: URLSearchParams): boolean {
  const mode = parameters.get("sslmode") ?? "";
  if (parameters.get("uselibpqcompat") !== "true") return mode !== "no-verify";
  return mode === "verify-ca" || mode === "verify-full";
}

function describeDifference({ role, schema, relation, missing, excess }: RightDifference): string {
  const place = relation === undefined ? `schema ${schema}` : `${schema}.${relation}`;
  const parts = [
    ...(missing.length === 0 ? [] : [`lacks ${missing.join(", ")}`]),
    ...(excess.length === 0 ? [] : [`has ${excess.join(", ")}`]),
  ];
  return `${role} ${parts.join(" and ")} on ${place}`;
}

async function readSite(deps: DoctorDeps, connection: Connection): Promise<SiteFacts> {
  const { db, signIn, dataFolder } = deps;
  const { version, needed } = await readSchemaStatus(db);
  await mkdir(dataFolder, { recursive: true });
  const { bavail, blocks, bsize } = await statfs(dataFolder);
  return {
    now: signIn.clock.now(),
    tokens: await showTokens(signIn),
    versions: {
      program: deps.version,
      node: process.version,
      postgres: Math.floor(connection.version_number / 10_000),
      postgresText: connection.version_text,
      postgis: connection.postgis,
      schema: { version, needed },
    },
    workers: (await listWorkers(db)).filter(({ alive }) => alive).map(describeWorker),
    clockOffsetMs: await readClockOffset(db, signIn.clock),
    disk: { folder: dataFolder, freeBytes: bavail * bsize, totalBytes: blocks * bsize },
    zones: await tryZones(deps.storage),
    limits: deps.limits,
    settings: deps.settings,
  };
}

/** A worker that confines GDAL says how in its registration, as `gdal.sandbox`. */
function describeWorker({ worker_id, version, gdal }: WorkerRow): SiteFacts["workers"][number] {
  const said: unknown = gdal === null ? undefined : Reflect.get(gdal, "sandbox");
  return { worker_id, version, gdal, sandbox: typeof said === "string" ? said : null };
}

/** Partners' files come into `bronze`, which need only be readable; the others are written. */
async function tryZones(storage: Storage): Promise<Record<string, string | null>> {
  const results = await Promise.all(
    zones.map(async (zone): Promise<[string, string | null]> => {
      try {
        if (zone === "bronze") await storage.list("bronze/", { limit: 1 });
        else await writeOnce(storage, `${zone}/.doctor-${randomBytes(8).toString("hex")}`);
        return [zone, null];
      } catch (error) {
        return [zone, error instanceof Error ? error.message : String(error)];
      }
    }),
  );
  return Object.fromEntries(results);
}

async function writeOnce(storage: Storage, path: string): Promise<void> {
  await storage.put(path, new TextEncoder().encode("ok"));
  await storage.delete(path);
}
