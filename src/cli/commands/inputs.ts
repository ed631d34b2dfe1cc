import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { readWorkflow } from "../../adapters/workflow-files/read-workflow.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import type { Client } from "../../core/api/client.ts";
import { UsageError } from "../common/failure.ts";

/** The declared types of inputs, by name; null: the workflow declares none. */
export type InputTypes = Readonly<Record<string, { readonly type: string }>> | null;

/** Asks for the declared inputs only if an `--input` needs them. */
export async function inputTypes(
  client: Client,
  workflowId: string,
  pairs: readonly string[],
): Promise<InputTypes> {
  if (pairs.length === 0) return null;
  return (await client.getWorkflow({ params: { workflow_id: workflowId } })).inputs;
}

/** Reads the inputs of `--inputs FILE`; each `--input k=v` replaces the one of its name. */
export async function readInputs(
  pairs: readonly string[],
  file: string | undefined,
  types: InputTypes = null,
): Promise<JsonObject> {
  const base = file === undefined ? {} : await readInputFile(file);
  return Object.fromEntries([
    ...Object.entries(base),
    ...pairs.map((pair) => parsePair(pair, types)),
  ]);
}

function parsePair(pair: string, types: InputTypes): [string, Json] {
  const at = pair.indexOf("=");
  if (at <= 0) {
    throw new UsageError(`--input ${pair}: write a name and a value, as in --input message=hello.`);
  }
  const name = pair.slice(0, at);
  const value = pair.slice(at + 1);
  const isText = types !== null && Object.hasOwn(types, name) && types[name]?.type === "string";
  return [name, isText ? unquoted(value) : parseValue(value)];
}

/** A declared text is taken as it stands: `message=1` is the text 1, and `message='"1"'` as well. */
function unquoted(value: string): string {
  const parsed = /^".*"$/s.test(value) ? parseValue(value) : value;
  return typeof parsed === "string" ? parsed : value;
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

/** Reads an object from a file of JSON or YAML; `-` is standard input. */
export async function readInputFile(file: string): Promise<JsonObject> {
  const name = file === "-" ? "standard input" : file;
  const content = file === "-" ? await text(process.stdin) : await readText(file);
  const value = content.trimStart().startsWith("{")
    ? parseJson(content, name)
    : parseYaml(content, name);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as JsonObject;
  }
  throw new UsageError(`${name} must hold an object: the values by their names.`);
}

function parseJson(content: string, name: string): unknown {
  try {
    return JSON.parse(content);
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
}

function parseYaml(content: string, name: string): unknown {
  const { tree, findings, locate } = readWorkflow(content);
  const [first] = findings;
  if (first === undefined) return tree;
  const { line, column } = locate(first);
  throw new UsageError(`${name}:${line}:${column}: ${first.message}`);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
