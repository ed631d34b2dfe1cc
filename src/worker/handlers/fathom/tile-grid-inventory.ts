/**
 * Handlers fathom_tile_inventory and fathom_grid_inventory: what each raster of the two phases is to be
 * made of is recorded, and what is not made of it yet is the work of the fan-out.
 */
import { createHash } from "node:crypto";
import type { FathomRow } from "../../../adapters/postgres/queries/fathom.ts";
import { listFathomRasters } from "../../../adapters/postgres/queries/fathom.ts";
import type { PlannedRaster } from "../../../adapters/postgres/repositories/fathom.ts";
import { planFathomRasters } from "../../../adapters/postgres/repositories/fathom.ts";
import { fathomConfiguration } from "../../../core/fathom/configuration.ts";
import type { FathomKey, FathomPhase } from "../../../core/fathom/configuration.ts";
import { cellOf } from "../../../core/fathom/read-name.ts";
import { firstIssueText } from "../../../core/model/issue-text.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { findMade } from "./check-made.ts";
import { findTiles } from "./find-tiles.ts";

export const tileInventory = defineHandler("fathom_tile_inventory", async (params, context) => {
  const { dataset, prefix } = params;
  const parsed = fathomConfiguration.safeParse(params.configuration ?? {});
  if (!parsed.success) {
    const text = `The configuration is not valid: ${firstIssueText(parsed.error)}`;
    throw new PermanentError(text, { code: "CONFIGURATION_INVALID" });
  }
  const { return_periods, grid_degrees } = parsed.data;
  const known = await listFathomRasters(requireDatabase(context), dataset, "stack");
  if (known.some((row) => row.grid_degrees !== grid_degrees)) {
    throw new PermanentError(
      `"${dataset}" has a grid of ${known[0]?.grid_degrees ?? 0}°: give a new grid another dataset name.`,
      { code: "GRID_CHANGED" },
    );
  }
  const { tiles, findings } = await findTiles(context, prefix, parsed.data);
  const planned = tiles.map(({ product, place, attributes, inputs }) => ({
    dataset,
    phase: "stack" as const,
    product,
    place,
    attributes,
    inputs,
    return_periods,
    grid_degrees,
    input_hash: hashOf({ return_periods, inputs }),
  }));
  const pending = await findPending(context, dataset, "stack", planned);
  const done_count = planned.length - pending.length;
  return {
    dataset,
    tiles: pending,
    tile_count: pending.length,
    done_count,
    findings: [...findings],
  };
});

export const gridInventory = defineHandler(
  "fathom_grid_inventory",
  async ({ dataset }, context) => {
    const stacks = await listFathomRasters(requireDatabase(context), dataset, "stack");
    const cells = new Map<string, FathomRow[]>();
    for (const row of stacks) {
      if (row.made_of === null) continue;
      const cell = `${row.product} ${cellOf(row.place, row.grid_degrees)}`;
      cells.set(cell, [...(cells.get(cell) ?? []), row]);
    }
    const planned = [...cells.values()].map(planCell);
    const pending = await findPending(context, dataset, "merge", planned);
    const done_count = planned.length - pending.length;
    return { dataset, cells: pending, cell_count: pending.length, done_count };
  },
);

function planCell(members: readonly FathomRow[]): PlannedRaster {
  const [first] = members;
  if (first === undefined) throw new Error("a grid cell without a tile");
  const { dataset, product, attributes, return_periods, grid_degrees } = first;
  const inputs = members.flatMap((row) =>
    row.made_of === null ? [] : [{ path: row.path, tag: row.checksum }],
  );
  const place = cellOf(first.place, grid_degrees);
  return {
    dataset,
    phase: "merge",
    product,
    place,
    attributes,
    return_periods,
    grid_degrees,
    inputs,
    input_hash: hashOf({ return_periods, inputs }),
  };
}

async function findPending(
  context: HandlerContext,
  dataset: string,
  phase: FathomPhase,
  planned: readonly PlannedRaster[],
) {
  const database = requireDatabase(context);
  await planFathomRasters(database, context.job_id, planned);
  const nameOf = ({ product, place }: Pick<FathomKey, "product" | "place">) =>
    `${product} ${place}`;
  const wanted = new Set(planned.map(nameOf));
  const pending: Omit<FathomKey, "phase">[] = [];
  for (const row of await listFathomRasters(database, dataset, phase)) {
    context.signal.throwIfAborted();
    if (!wanted.has(nameOf(row)) || (await findMade(context, row)) !== undefined) continue;
    pending.push({ dataset, product: row.product, place: row.place });
  }
  return pending;
}

function hashOf(made: object): string {
  return createHash("sha256").update(JSON.stringify(made)).digest("hex");
}
