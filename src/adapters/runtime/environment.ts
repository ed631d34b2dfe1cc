/** The environment variables that every program has, and how a program parses its own. */
import { z } from "zod";

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

export const logEnvironment = {
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  LOG_FORMAT: z.enum(["json", "text"]).default("json"),
};

/** Reports all invalid variables at once, by name. An empty variable counts as unset. */
export function parseEnvironment<Schema extends z.ZodType>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map(({ path, message }) => `  ${path.join(".")}: ${message}`);
  throw new ConfigError(`The configuration is not valid:\n${lines.join("\n")}`);
}
