import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { toContract } from "../../adapters/json-schema/to-contract.ts";
import { contractData } from "../../core/handlers/contract-data.ts";
import type { Handler } from "../define-handler.ts";
import { runProgram } from "./run-program.ts";

const storagePath = z.string().min(1).max(1024);

/** A file that makes a program a handler: docs/handlers.md describes the keys. */
const programFile = contractData.extend({
  command: z.array(z.string().min(1).max(4096)).min(1).max(100),
  image: z.string().min(1).max(255).optional(),
  environment: z
    .union([
      z.array(z.string().regex(/^\w+$/)),
      z.record(z.string().regex(/^\w+$/), z.string()).transform((fixed) => fixed),
    ])
    .default([]),
  sources: z.array(z.string().min(1).max(64)).default([]),
  outputs: z.record(z.string().min(1).max(64), storagePath).default({}),
  retry_exit_codes: z.array(z.number().int().min(1).max(255)).default([75]),
  max_memory_mb: z.number().int().min(16).optional(),
  max_output_mb: z.number().min(0.001).max(1024).default(16),
  grace_seconds: z.number().min(0).max(600).default(10),
});
export type ProgramFile = z.output<typeof programFile>;

/** Reads the description of a program and makes a handler of it. */
export async function loadProgram(file: string): Promise<Handler> {
  const parsed = programFile.safeParse(parse(await readFile(file, "utf8")));
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error));
  const program = parsed.data;
  const { name, description, params, result, queue, timeout_seconds, retry, examples } = program;
  const contract = toContract({
    name,
    description,
    params,
    result,
    queue,
    timeout_seconds,
    ...(retry === undefined ? {} : { retry }),
    examples,
  });
  const folder = path.dirname(path.resolve(file));
  return {
    contract,
    run: (given, context) => runProgram(program, folder, given as object, context),
  };
}
