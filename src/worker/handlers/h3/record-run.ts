/** Ends a discovery: records the computation, and answers the chunks of the fan-out. */
import { createHash } from "node:crypto";
import { assignCoarser } from "../../../adapters/h3/chunks.ts";
import type { NewH3Run } from "../../../adapters/postgres/repositories/h3.ts";
import { startH3Run } from "../../../adapters/postgres/repositories/h3.ts";
import { resolutionsOf } from "../../../core/h3/configuration.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { requireDatabase } from "../require-database.ts";

type Discovered = Omit<NewH3Run, "run_id" | "findings" | "chunk_count" | "job_id">;

/** Records the computation of these cells of resolution 3; `nothing` is told where there are none. */
export async function recordRun(
  context: HandlerContext,
  run: Discovered,
  { cells, nothing }: { readonly cells: readonly string[]; readonly nothing: string },
) {
  const { kind, raster, period, source_tag, configuration } = run;
  const run_id = runIdOf([kind, raster, period, source_tag, JSON.stringify(configuration)]);
  const findings = cells.length > 0 ? [] : [{ code: "EMPTY_INTERSECTION", message: nothing }];
  const chunk_count = cells.length;
  const { job_id } = context;
  await startH3Run(requireDatabase(context), { ...run, run_id, findings, chunk_count, job_id });
  const chunks = chunksOf(run_id, cells, configuration);
  return { run_ids: [run_id], chunks, chunk_count, findings };
}

/** The same texts name the same computation. */
export function runIdOf(identity: readonly string[]): string {
  return createHash("sha256").update(identity.join("\n")).digest("hex").slice(0, 32);
}

/** A chunk for each cell; every coarser cell belongs to one of them. */
export function chunksOf(
  run_id: string,
  cells: readonly string[],
  configuration: Parameters<typeof resolutionsOf>[0],
) {
  const coarser = assignCoarser(cells, resolutionsOf(configuration));
  return cells.map((h3_l3) => ({ run_id, h3_l3, coarser: [...(coarser.get(h3_l3) ?? [])] }));
}
