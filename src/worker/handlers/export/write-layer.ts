/** Handler export.write_layer: the data of a version in one format, for a download. */
import { itemsOfVersion } from "../../../adapters/postgres/queries/catalogue-items.ts";
import { sourcesOf } from "../../../core/catalogue/stac.ts";
import { seesAll } from "../../../core/domain/served-version.ts";
import { exportFormatNames } from "../../../core/vector/export-formats.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { requireDatabase } from "../require-database.ts";
import { folderOfDownloads } from "./places.ts";
import { writeTable } from "./write-table.ts";

export const writeLayer = defineHandler("export.write_layer", async (params, context) => {
  const { format, max_zoom } = params;
  const items = await itemsOfVersion(requireDatabase(context), seesAll, params);
  const sources = items.map(sourcesOf);
  const tables = [...new Set(sources.flatMap((each) => each.tables))];
  const rasters = [...new Set(sources.flatMap((each) => each.paths))];
  if (format === "cog") {
    const paths = rasters.length > 0 ? rasters : [params.blob_path ?? []].flat();
    const found = await Promise.all(paths.map((path) => context.storage.head(path)));
    const present = found.flatMap((each) => each ?? []);
    if (present.length === 0) throw nothing("raster", "cog is for rasters only", exportFormatNames);
    // The rasters of the platform are COGs already.
    return {
      paths: present.map(({ path }) => path),
      bytes: present.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }
  if (tables.length === 0 && params.table_name != null) tables.push(params.table_name);
  if (tables.length === 0) {
    throw nothing("table of features", `${format} is for features only`, ["cog"]);
  }
  const folder = `gold/${folderOfDownloads(params)}`;
  const written = [];
  for (const table of tables) {
    const target = (ending: string) => `${folder}/${table}${ending}`;
    written.push(await writeTable(context, table, format, target, max_zoom));
  }
  return {
    paths: written.map(({ path }) => path),
    bytes: written.reduce((sum, { bytes }) => sum + bytes, 0),
  };
});

function nothing(lacks: string, why: string, possible: readonly string[]): PermanentError {
  const formats = possible.join(", ");
  const text = `The version has no ${lacks}, and ${why}. It can be written as: ${formats}.`;
  return new PermanentError(text, { code: "FORMAT_NOT_POSSIBLE" });
}
