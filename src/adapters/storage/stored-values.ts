import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { KnownError } from "../runtime/known-error.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import type { ValueReference } from "../../core/model/value-reference.ts";
import {
  findReferences,
  isReference,
  replaceReferences,
} from "../../core/model/value-reference.ts";
import type { Storage } from "./storage.ts";

/** The stored bytes are not those that the reference names. */
class ValueDamaged extends KnownError {
  constructor({ $ref, sha256 }: ValueReference) {
    super("VALUE_DAMAGED", "permanent", `"${$ref}" in storage does not have the hash ${sha256}.`);
  }
}

/** Stores a value that is too large for rows and messages. Equal values of a job share an object. */
export async function storeValue(
  storage: Storage,
  jobId: string,
  json: string,
): Promise<ValueReference> {
  const bytes = new TextEncoder().encode(json);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const $ref = `results/${jobId.replaceAll(/[^\w-]/g, "_")}/${sha256}.json`;
  await storage.put($ref, bytes, { contentType: "application/json" });
  return { $ref, bytes: bytes.length, sha256 };
}

export async function readValue(storage: Storage, reference: ValueReference): Promise<Json> {
  const bytes = await storage.get(reference.$ref);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (sha256 !== reference.sha256) throw new ValueDamaged(reference);
  return JSON.parse(new TextDecoder().decode(bytes)) as Json;
}

/** The JSON of a value as a stream: what is kept in storage is read piece by piece. */
export function streamValue(storage: Storage, value: Json): Readable {
  return Readable.from(writeJson(storage, value), { objectMode: false });
}

async function* writeJson(storage: Storage, value: Json): AsyncGenerator<Uint8Array> {
  if (isReference(value)) yield* readPieces(storage, value);
  else if (findReferences(value).length === 0) yield Buffer.from(JSON.stringify(value));
  else {
    const isList = Array.isArray(value);
    let before = isList ? "[" : "{";
    for (const [key, member] of Object.entries(value as JsonObject)) {
      yield Buffer.from(isList ? before : `${before}${JSON.stringify(key)}:`);
      yield* writeJson(storage, member);
      before = ",";
    }
    yield Buffer.from(isList ? "]" : "}");
  }
}

/** Fails at the end where the bytes are not those that the reference names. */
async function* readPieces(
  storage: Storage,
  reference: ValueReference,
): AsyncGenerator<Uint8Array> {
  const { body } = await storage.stream(reference.$ref);
  const hash = createHash("sha256");
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    hash.update(piece);
    yield piece;
  }
  if (hash.digest("hex") !== reference.sha256) throw new ValueDamaged(reference);
}

/** Answers the tree with all its references replaced by what they stand for. */
export async function resolveReferences(storage: Storage, tree: Json): Promise<Json> {
  const found = findReferences(tree);
  if (found.length === 0) return tree;
  const values = new Map<string, Json>();
  for (const { reference } of found) {
    if (!values.has(reference.sha256)) {
      values.set(reference.sha256, await readValue(storage, reference));
    }
  }
  return replaceReferences(tree, ({ sha256 }) => values.get(sha256) ?? null);
}
