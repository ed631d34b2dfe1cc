import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { BadSchema } from "../../adapters/json-schema/check-schema.ts";
import { describeContract, whyReserved } from "../../core/handlers/contract-data.ts";
import type { Handler } from "../define-handler.ts";
import { loadModule } from "./load-module.ts";
import { loadProgram } from "./load-program.ts";

export interface LoadedHandlers {
  readonly handlers: readonly Handler[];
  /** Files that could not be used, with the reason; the others count. */
  readonly problems: readonly { readonly file: string; readonly reason: string }[];
  /** Changes whenever a file changes. */
  readonly mark: string;
}

export interface LoadOptions {
  readonly folders: readonly string[];
  readonly cacheFolder: string;
  readonly shipped: ReadonlySet<string>;
  readonly mayShadow: boolean;
}

const modules = /(?<!\.d|\.test|\.spec)\.(?:ts|mts|js|mjs)$/;
const programs = /\.ya?ml$/;

/** Loads every module and every described program of the folders. */
export async function loadHandlers(options: LoadOptions): Promise<LoadedHandlers> {
  const handlers = new Map<string, { readonly handler: Handler; readonly file: string }>();
  const problems: { file: string; reason: string }[] = [];
  const { files, mark } = await listFiles(options.folders, problems);
  for (const file of files) {
    try {
      const loaded = programs.test(file)
        ? [await loadProgram(file)]
        : await loadModule(file, options.cacheFolder);
      for (const handler of loaded) {
        const { name } = handler.contract;
        const reserved = options.mayShadow ? undefined : whyReserved(name, options.shipped);
        if (reserved !== undefined) throw new Error(`${reserved}: choose another name`);
        const other = handlers.get(name)?.file;
        if (other !== undefined) throw new Error(`"${name}" is already defined in ${other}`);
        // Throws for a schema that cannot be described to others.
        describeContract(handler.contract);
        handlers.set(name, { handler, file });
      }
    } catch (error) {
      problems.push({ file, reason: reasonOf(error) });
    }
  }
  return { handlers: [...handlers.values()].map(({ handler }) => handler), problems, mark };
}

/** The names, sizes and times of all files: another mark means that something changed. */
export async function markOf(folders: readonly string[]): Promise<string> {
  return (await listFiles(folders, [])).mark;
}

async function listFiles(
  folders: readonly string[],
  problems: { file: string; reason: string }[],
): Promise<{ files: string[]; mark: string }> {
  const files: string[] = [];
  const marks: string[] = [];
  for (const folder of folders) {
    try {
      for (const entry of (await readdir(folder, { withFileTypes: true })).toSorted(byName)) {
        if (!entry.isFile()) continue;
        const file = path.join(folder, entry.name);
        const { size, mtimeMs } = await stat(file);
        marks.push(`${file} ${size} ${mtimeMs}`);
        if (modules.test(entry.name) || programs.test(entry.name)) files.push(file);
      }
    } catch (error) {
      problems.push({ file: folder, reason: reasonOf(error) });
    }
  }
  return { files, mark: marks.join("\n") };
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1;
}

function reasonOf(error: unknown): string {
  if (error instanceof BadSchema) return `its schema cannot be used: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
