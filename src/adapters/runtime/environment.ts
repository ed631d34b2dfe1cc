/** The environment variables that every program has, and how a program parses its own. */
import { z } from "zod";
import { issueText } from "../../core/model/issue-text.ts";
import { addressOfParts, completeAddress } from "./database-address.ts";

/** A variable has an invalid value: the program prints the message and exits with 2. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Values separated by commas. */
export const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);

/** Levels in capitals, and as Python names them. */
const otherLevels = new Map([
  ["warning", "warn"],
  ["critical", "error"],
  ["fatal", "error"],
]);

export const logEnvironment = {
  LOG_LEVEL: z
    .string()
    .transform((text) => otherLevels.get(text.toLowerCase()) ?? text.toLowerCase())
    .pipe(z.enum(["trace", "debug", "info", "warn", "error", "silent"]))
    .default("info"),
  LOG_FORMAT: z.enum(["json", "text"]).default("json"),
};

/** Other names of variables, each with ours. A variable under its own name counts first. */
const otherNames: Readonly<Record<string, string>> = {
  ORCHESTRATOR_POLL_INTERVAL: "POLL_INTERVAL_SEC",
  AZURE_STORAGE_ACCOUNT_NAME: "AZURE_STORAGE_ACCOUNT",
  POSTGRES_DATABASE: "POSTGRES_DB",
  POSTGIS_HOST: "POSTGRES_HOST",
  POSTGIS_DATABASE: "POSTGRES_DB",
  SERVICE_BUS_NAMESPACE: "SERVICE_BUS_FQDN",
};

const databaseNames = ["DATABASE_URL", "GATEWAY_DATABASE_URL", "MIGRATION_DATABASE_URL"];

type Environment = Readonly<Record<string, string | undefined>>;

function withOtherNames(env: Environment): Environment {
  const named: Record<string, string | undefined> = { ...env };
  for (const [other, own] of Object.entries(otherNames)) named[own] ??= env[other];
  named["DATABASE_URL"] ??= addressOfParts(named);
  for (const name of databaseNames) {
    const address = named[name];
    if (address !== undefined) named[name] = completeAddress(address, named);
  }
  return named;
}

/** A deployment that says which program it runs must run that one. */
export const runMode = (program: string) =>
  z
    .literal(program, {
      error: `says that another program should run here, and this is ${program}`,
    })
    .optional();

/** Reports all invalid variables at once, by name. An empty variable counts as unset. */
export function parseEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  env: Environment,
): z.output<Schema> {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const given = withOtherNames(set);
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `  ${issueText(issue)}`);
  throw new ConfigError(`The configuration is not valid:\n${lines.join("\n")}`);
}
