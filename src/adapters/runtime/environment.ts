/** What every program reads of its environment in the same way. */
import { z } from "zod";

/** Something is set wrongly: the program says what, and ends with 2. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Separated by commas. */
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

/** All that is wrong at once, by the name of the variable. One that is set to nothing is not set. */
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
