/** Judges what was read of the database: roles, rights, encryption, connections. */
import type { Check } from "./check.ts";
import { ok, problem } from "./check.ts";

export interface DatabaseFacts {
  /** True: the orchestrator's own connection comes from another machine. */
  readonly isRemote: boolean;
  readonly isEncrypted: boolean;
  /** False: any server is accepted, whatever certificate it shows. */
  readonly verifiesServer: boolean;
  readonly connections: { readonly used: number; readonly most: number };
  /** The users that programs are connected as. */
  readonly programs: readonly ProgramFacts[];
  readonly missingRoles: readonly string[];
  /** Rights that a group lacks or has too many, in words. */
  readonly wrongRights: readonly string[];
  /** Tables that the orchestrator cannot vacuum. */
  readonly notVacuumed: readonly string[];
  readonly gatewayLogins: readonly GatewayLogin[];
}

export interface ProgramFacts {
  readonly program: "orchestrator" | "worker" | "gateway";
  readonly user: string;
  readonly isSuperuser: boolean;
  readonly mayCreateRoles: boolean;
}

export interface GatewayLogin {
  readonly user: string;
  /** -1: no limit. */
  readonly connections: number;
  readonly statementTimeout: string | null;
  /** Other databases of the server that it may connect to. */
  readonly otherDatabases: readonly string[];
  /** The statements that set the two limits. */
  readonly limitConnections: string;
  readonly limitTime: string;
}

const runScript = "let an administrator run deploy/roles.sql, then run `rmhdag migrate`";

export function judgeDatabase(facts: DatabaseFacts): Check[] {
  return [
    judgeUsers(facts),
    judgeRights(facts),
    judgeVacuum(facts),
    ...facts.gatewayLogins.map(judgeGatewayLogin),
    judgeEncryption(facts),
    judgeConnections(facts),
  ];
}

function judgeUsers({ programs }: DatabaseFacts): Check {
  const name = "database users";
  const mighty = programs.filter((each) => each.isSuperuser || each.mayCreateRoles);
  const describe = ({ program, user, isSuperuser }: ProgramFacts) =>
    `${program} as ${user}${isSuperuser ? " (a superuser)" : ""}`;
  if (mighty.length > 0) {
    return problem(
      name,
      `too powerful: ${mighty.map(describe).join(", ")}`,
      `${runScript}, and start each program with its own login`,
    );
  }
  return ok(name, programs.map(describe).join(", "));
}

function judgeRights({ missingRoles, wrongRights }: DatabaseFacts): Check {
  const name = "database rights";
  if (missingRoles.length > 0) {
    return problem(name, `the server lacks the roles ${missingRoles.join(", ")}`, runScript);
  }
  if (wrongRights.length === 0) return ok(name, "each role has its rights and no others");
  const shown = wrongRights.slice(0, 5).join("; ");
  const rest = wrongRights.length > 5 ? `; and ${wrongRights.length - 5} more` : "";
  return problem(name, shown + rest, "run `rmhdag migrate` as the owner of the schema");
}

function judgeVacuum({ notVacuumed }: DatabaseFacts): Check {
  const name = "vacuum of the queues";
  if (notVacuumed.length === 0) return ok(name, "the orchestrator may vacuum them");
  return problem(
    name,
    `the orchestrator does not own ${notVacuumed.join(", ")}, so its VACUUM does nothing`,
    "run `rmhdag migrate` as the owner of the schema",
  );
}

function judgeGatewayLogin(login: GatewayLogin): Check {
  const name = `gateway's login ${login.user}`;
  const found: string[] = [];
  const remedies: string[] = [];
  if (login.connections < 0) {
    found.push("no connection limit");
    remedies.push(login.limitConnections);
  }
  if (login.statementTimeout === null || /^0[a-z]*$/.test(login.statementTimeout)) {
    found.push("no statement timeout");
    remedies.push(login.limitTime);
  }
  if (login.otherDatabases.length > 0) {
    found.push(`may connect to ${login.otherDatabases.join(", ")}`);
    remedies.push("run deploy/close-databases.sql as a superuser");
  }
  if (found.length > 0) return problem(name, found.join(", "), remedies.join("; "));
  const { connections, statementTimeout } = login;
  return ok(
    name,
    `${connections} connections, statements of ${statementTimeout ?? ""}, one database`,
  );
}

function judgeEncryption({ isRemote, isEncrypted, verifiesServer }: DatabaseFacts): Check {
  const name = "connection to the database";
  if (!isRemote) return ok(name, "on this machine");
  if (!isEncrypted) {
    return problem(
      name,
      "not encrypted, to another machine",
      "add ?sslmode=verify-full to DATABASE_URL, and &sslrootcert=… for a private authority",
    );
  }
  if (verifiesServer) return ok(name, "encrypted, and the server's certificate is verified");
  return problem(
    name,
    "encrypted, but any server is accepted",
    "write sslmode=verify-full in DATABASE_URL",
  );
}

function judgeConnections({ connections: { used, most } }: DatabaseFacts): Check {
  const name = "connections of the database";
  const found = `${used} of ${most} in use`;
  if (used < most * 0.8) return ok(name, found);
  return problem(name, found, "raise max_connections of the server, or stop programs");
}
