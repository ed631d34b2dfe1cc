import { cellMayOverlap } from "../../../adapters/h3/chunks.ts";
import {
  findH3CombinedSource,
  findServedH3Run,
  listH3Files,
} from "../../../adapters/postgres/queries/h3.ts";
import type { H3RunRow } from "../../../adapters/postgres/queries/h3.ts";
import { saveH3CombinedSource } from "../../../adapters/postgres/repositories/h3.ts";
import type { H3Column, H3Computation } from "../../../core/h3/columns.ts";
import { columnsOf } from "../../../core/h3/columns.ts";
import type { FrozenCombination, H3Combination } from "../../../core/h3/combination.ts";
import {
  combinationTag,
  datasetsOf,
  formulasOf,
  h3CombinedSource,
  h3Combination,
} from "../../../core/h3/combination.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { readConfiguration, refuseTakenName, withoutNull } from "./new-run.ts";
import { recordRun } from "./record-run.ts";

type Inputs = ReadonlyMap<string, H3RunRow>;

/** Handler h3_discover_combination: the data sets that are combined, frozen, and the chunks of the fan-out. */
export const discoverCombination = defineHandler(
  "h3_discover_combination",
  async (params, context) => {
    const database = requireDatabase(context);
    const { combination } = params;
    await refuseTakenName(database, combination, "combined");
    const known = await findH3CombinedSource(database, combination);
    const given = params.datasets == null ? known?.source : { datasets: params.datasets };
    if (given === undefined) {
      const text = `No data sets are given, and none are recorded for "${combination}".`;
      throw new PermanentError(text, { code: "SOURCE_NOT_FOUND" });
    }
    const source = readConfiguration(h3CombinedSource, given);
    const recorded = params.datasets == null ? known?.configuration : undefined;
    const wanted = { ...recorded, ...withoutNull(params.configuration ?? {}) };
    const asked = readConfiguration(h3Combination, wanted);
    await saveH3CombinedSource(database, combination, source, wanted);
    const inputs: Inputs = new Map(
      await Promise.all(
        datasetsOf(source).map(
          async ({ alias, dataset, period }) =>
            [alias, await requireComputed(context, dataset, period)] as const,
        ),
      ),
    );
    checkColumns(asked, inputs);
    const configuration = freeze(asked, inputs);
    const cells = await findChunks(context, configuration, inputs);
    const period = params.period ?? "static";
    const source_tag = combinationTag([...inputs].map(([alias, run]) => ({ alias, ...run })));
    const ended = await recordRun(
      context,
      {
        kind: "combined",
        raster: combination,
        period,
        origin: [...inputs.values()].map((run) => `${run.raster} of ${run.period}`).join(", "),
        source_tag,
        source_path: "",
        wkt2: "",
        bbox: asked.bbox ?? boxAround([...inputs.values()], asked.cells),
        configuration,
      },
      {
        cells,
        nothing: `The data sets of "${combination}" have no cell in common that is asked for.`,
      },
    );
    return { combination, ...ended };
  },
);

async function requireComputed(
  context: HandlerContext,
  dataset: string,
  period: string | undefined,
): Promise<H3RunRow> {
  const run = await findServedH3Run(requireDatabase(context), dataset, period);
  if (run !== undefined) return run;
  const of = period === undefined ? "" : ` of ${period}`;
  throw new PermanentError(`"${dataset}"${of} is not computed yet: rmhdag h3 run ${dataset}.`, {
    code: "SOURCE_NOT_FOUND",
  });
}

function checkColumns({ columns }: H3Combination, inputs: Inputs): void {
  const known = [...inputs].flatMap(([alias, run]) =>
    columnsOf(run as H3Computation)
      .filter(({ type }: H3Column) => type === "number")
      .map(({ name }) => `${alias}.${name}`),
  );
  for (const column of columns) {
    for (const name of formulasOf(column).flatMap((each) => [...each.columns])) {
      if (known.includes(name)) continue;
      const text = `"${column.name}" uses "${name}"; there are ${known.join(", ")}.`;
      throw new PermanentError(text, { code: "COLUMN_NOT_FOUND" });
    }
  }
}

/** With the resolutions that all data sets have, if no others are asked for. */
function freeze(asked: H3Combination, inputs: Inputs): FrozenCombination {
  const given = [...inputs.values()].map(({ configuration }) => configuration);
  const least = Math.max(...given.map(({ min_resolution }) => min_resolution));
  const most = Math.min(...given.map(({ max_resolution }) => max_resolution));
  const min_resolution = asked.min_resolution ?? least;
  const max_resolution = asked.max_resolution ?? most;
  if (min_resolution < least || max_resolution > most || min_resolution > max_resolution) {
    const text = `All data sets together have the resolutions ${least} to ${most}, not ${min_resolution} to ${max_resolution}.`;
    throw new PermanentError(text, { code: "CONFIGURATION_INVALID" });
  }
  const runs = Object.fromEntries([...inputs].map(([alias, { run_id }]) => [alias, run_id]));
  return { ...asked, min_resolution, max_resolution, runs };
}

/** The cells of resolution 3 for which all data sets, or any of them, have rows. */
async function findChunks(
  context: HandlerContext,
  { cells, bbox, min_resolution }: FrozenCombination,
  inputs: Inputs,
): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const { run_id, raster, chunk_count } of inputs.values()) {
    const files = (await listH3Files(requireDatabase(context), run_id)).filter(
      ({ h3_l3 }) => h3_l3 !== null,
    );
    if (new Set(files.map(({ h3_l3 }) => h3_l3)).size !== chunk_count) {
      const text = `"${raster}" is being computed again: wait for its end.`;
      throw new PermanentError(text, { code: "CHUNKS_MISSING" });
    }
    const own = files.filter((file) => file.row_count > 0 && file.resolution >= min_resolution);
    for (const cell of new Set(own.map(({ h3_l3 }) => h3_l3 ?? ""))) {
      counts.set(cell, (counts.get(cell) ?? 0) + 1);
    }
  }
  const least = cells === "all" ? inputs.size : 1;
  return [...counts]
    .filter(([cell, count]) => count >= least && (bbox == null || cellMayOverlap(cell, bbox)))
    .map(([cell]) => cell)
    .toSorted();
}

/** Of data sets that all have a cell, the box that they have in common; otherwise the box around all. */
function boxAround(runs: readonly H3RunRow[], cells: "all" | "any"): H3RunRow["bbox"] {
  const of = (at: 0 | 1 | 2 | 3) => runs.map(({ bbox }) => bbox[at]);
  const [west, south, east, north] =
    cells === "all"
      ? [Math.max(...of(0)), Math.max(...of(1)), Math.min(...of(2)), Math.min(...of(3))]
      : [Math.min(...of(0)), Math.min(...of(1)), Math.max(...of(2)), Math.max(...of(3))];
  if (west <= east && south <= north) return [west, south, east, north];
  return runs[0]?.bbox ?? [-180, -90, 180, 90];
}
