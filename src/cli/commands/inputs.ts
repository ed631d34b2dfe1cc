import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import type { Json, JsonObject } from "../../core/model/json.ts";
import { UsageError } from "../common/failure.ts";

/** Reads the inputs of `--inputs FILE`; each `--input k=v` replaces the one of its name. */
export async function readInputs(
  pairs: readonly string[],
  file: string | undefined,
): Promise<JsonObject> {
  const base = file === undefined ? {} : await readInputFile(file);
  return Object.fromEntries([...Object.entries(base), ...pairs.map(parsePair)]);
}

function parsePair(pair: string): [string, Json] {
  const at = pair.indexOf("=");
  if (at <= 0) {
    throw new UsageError(`--input ${pair}: write a name and a value, as in --input message=hello.`);
  }
  return [pair.slice(0, at), parseValue(pair.slice(at + 1))];
}

/**
 * Parses a value as JSON, else takes the text itself, so that a text needs no quotes in a shell.
 */
export function parseValue(value: string): Json {
  let parsed: Json;
  try {
    parsed = JSON.parse(value) as Json;
  } catch {
    return value;
  }
  // A long identifier would lose digits as a number.
  return Number.isInteger(parsed) && !Number.isSafeInteger(parsed) ? value : parsed;
}

async function readInputFile(file: string): Promise<JsonObject> {
  const name = file === "-" ? "standard input" : file;
  const content = file === "-" ? await text(process.stdin) : await readText(file);
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as JsonObject;
  }
  throw new UsageError(`${name} must hold a JSON object: the inputs by their names.`);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`--inputs: ${error instanceof Error ? error.message : String(error)}`);
  }
}
