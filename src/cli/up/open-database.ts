import { createHash } from "node:crypto";
import path from "node:path";
import { z } from "zod";
import { keepRunning } from "../../adapters/embedded-postgres/keep-running.ts";
import { startEmbeddedPostgres } from "../../adapters/embedded-postgres/start-embedded-postgres.ts";
import { migrate } from "../../adapters/postgres/migrate.ts";
import type { MigrateResult } from "../../adapters/postgres/migrate.ts";
import { makeLogins } from "../../adapters/postgres/roles/make-login.ts";
import type { ProgramRole } from "../../adapters/postgres/roles/rights.ts";
import { asOwner, secureServer } from "../../adapters/postgres/roles/secure-server.ts";
import type { CliConfig } from "../common/config.ts";
import { UsageError } from "../common/failure.ts";

export interface OpenDatabase {
  /** Of the user who may make other users: a superuser of the embedded server. */
  readonly url: string;
  /** Of the schema's owner. */
  readonly ownerUrl: string;
  /** For people: which PostgreSQL it is and where, without the password. */
  readonly description: string;
  readonly migrated: MigrateResult;
  readonly close: () => Promise<void>;
}

/** Opens and migrates the database of DATABASE_URL, or the embedded one in the data folder. */
export async function openDatabase(
  { databaseUrl, postgres }: Pick<CliConfig, "databaseUrl" | "postgres">,
  dataFolder: string,
  log: (message: string) => void,
  onMoved: (reason: string) => void = () => undefined,
): Promise<OpenDatabase> {
  if (databaseUrl !== undefined) {
    const migrated = await migrate(databaseUrl, { log });
    const close = async () => undefined;
    const description = describeUrl(databaseUrl);
    return { url: databaseUrl, ownerUrl: databaseUrl, description, migrated, close };
  }
  const prefer = z.enum(["auto", "npm", "system"]).safeParse(postgres);
  if (!prefer.success) {
    throw new UsageError(`RMHDAG_POSTGRES is "${postgres}": it must be auto, npm or system.`);
  }
  const options = {
    prefer: prefer.data,
    dataDirectory: path.join(dataFolder, "postgres"),
    log,
  };
  const server = await startEmbeddedPostgres(options);
  try {
    await secureServer(server.url);
    const ownerUrl = asOwner(server.url);
    const migrated = await migrate(ownerUrl, { log });
    const postgis = server.hasPostgis ? ", with PostGIS" : "";
    return {
      url: server.url,
      ownerUrl,
      description: `embedded PostgreSQL ${server.version} in ${dataFolder}${postgis}`,
      migrated,
      close: keepRunning(server, { ...options, say: log, onMoved }).stop,
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function describeUrl(url: string): string {
  if (!URL.canParse(url)) return "the database of DATABASE_URL";
  const { host, pathname } = new URL(url);
  return `PostgreSQL at ${host}${pathname}`;
}

/** The address of the database for each program, with a user of its own. */
export interface ProgramUrls {
  readonly orchestrator: string;
  readonly worker: string;
  /** Absent: the gateway must not run with the rights of another program. */
  readonly gateway: string | undefined;
}

export type ProgramPasswords = Readonly<Record<keyof ProgramUrls, string>>;

/**
 * Makes a database user for each program, with the rights of its role and no others. Where the user of
 * DATABASE_URL may not make users, orchestrator and workers connect as that user, and no gateway runs.
 */
export async function makeProgramUsers(
  databaseUrl: string,
  passwords: ProgramPasswords,
  say: (line: string) => void,
): Promise<ProgramUrls> {
  const logins = {
    orchestrator: loginOf("rmhdag_orchestrator", passwords.orchestrator),
    worker: loginOf("rmhdag_worker", passwords.worker),
    gateway: loginOf("rmhdag_gateway", passwords.gateway),
  };
  if (!(await makeLogins(databaseUrl, Object.values(logins)))) {
    say(
      "orchestrator and workers use the user of DATABASE_URL, and no gateway runs: this user may not " +
        "make others. Let an administrator run deploy/roles.sql, then start the programs with " +
        "`rmhdag orchestrator`, `rmhdag worker` and `rmhdag gateway`",
    );
    return { orchestrator: databaseUrl, worker: databaseUrl, gateway: undefined };
  }
  const urlOf = ({ user, password }: { user: string; password: string }) => {
    const url = new URL(databaseUrl);
    url.username = user;
    url.password = password;
    return url.href;
  };
  return {
    orchestrator: urlOf(logins.orchestrator),
    worker: urlOf(logins.worker),
    gateway: urlOf(logins.gateway),
  };
}

/** The name follows from the password, so that two sites on one server have different users. */
function loginOf(role: ProgramRole, password: string) {
  const suffix = createHash("sha256").update(password).digest("hex").slice(0, 8);
  return { role, user: `${role}_${suffix}`, password };
}
