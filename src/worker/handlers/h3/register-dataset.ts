import { ownerOfJob } from "../../../adapters/postgres/queries/catalogue-owners.ts";
import { listH3Files } from "../../../adapters/postgres/queries/h3.ts";
import {
  ensureCollection,
  upsertItems,
} from "../../../adapters/postgres/repositories/catalogue.ts";
import { setItemOfH3Run } from "../../../adapters/postgres/repositories/h3.ts";
import { version } from "../../../adapters/runtime/version.ts";
import { buildCollection } from "../../../core/catalogue/collection.ts";
import { buildH3Item } from "../../../core/catalogue/h3-item.ts";
import { columnsOf } from "../../../core/h3/columns.ts";
import { chooseTime } from "../../../core/catalogue/moment.ts";
import { namesOf } from "../../../core/catalogue/owner.ts";
import { versionItemId } from "../../../core/domain/platform-names.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { requireRun } from "./open-run.ts";

/** Handler h3_register_dataset: an item with a Parquet file for each resolution. */
export const registerDataset = defineHandler("h3_register_dataset", async (params, context) => {
  const database = requireDatabase(context);
  const { collection_id, run_ids, title, datetime } = params;
  const owner = await ownerOfJob(database, context.job_id);
  const items = [];
  for (const runId of run_ids) {
    const run = await requireRun(context, runId);
    if (run.status !== "completed" || run.finished_at === null) {
      throw new PermanentError(`"${run.raster}" is not computed to its end: finalize it first.`, {
        code: "RUN_NOT_FINISHED",
      });
    }
    const files = (await listH3Files(database, runId, { compacted: true })).filter(
      ({ row_count }) => row_count > 0,
    );
    const name = `h3-${run.raster}-${run.period}`;
    const given = run_ids.length === 1 ? params.item_id : undefined;
    const item_id = given ?? (owner?.kind === "version" ? versionItemId(owner, name) : name);
    const day = /^\d{4}-\d{2}-\d{2}$/.test(run.period) ? `${run.period}T00:00:00Z` : null;
    const written = run.finished_at.toISOString();
    const item = buildH3Item({
      collection_id,
      item_id,
      title: title ?? `${run.raster} by H3 cell`,
      bbox: run.bbox,
      time: chooseTime({ datetime: datetime ?? day }, null, written),
      raster: run.raster,
      period: run.period,
      columns: columnsOf(run),
      files,
      processing: {
        datetime: written,
        software: { rmhdagmaster: version },
        lineage: `Computed of ${run.origin} by H3 cell.`,
        derived_from: run.origin,
      },
      platform: namesOf(owner) ?? params.platform,
    });
    items.push({ runId, item });
  }
  await ensureCollection(database, buildCollection({ collection_id, license: "other" }), owner);
  const { item_ids } = await upsertItems(
    database,
    collection_id,
    items.map(({ item }) => item),
    owner,
  );
  for (const { runId, item } of items) {
    await setItemOfH3Run(database, runId, collection_id, item.id);
  }
  const [first] = items;
  return {
    collection_id,
    item_id: first?.item.id ?? null,
    item_ids,
    bbox: first?.item.bbox ?? null,
  };
});
