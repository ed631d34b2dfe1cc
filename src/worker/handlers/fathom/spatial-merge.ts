/**
 * Handler fathom_spatial_merge: the stacks of one grid cell become one COG, band by band. GDAL holds its
 * block cache and no more, whatever the size of the grid; the bands lie in the task's folder on disk.
 */
import { writeFile } from "node:fs/promises";
import type { FathomRow, MadeRaster } from "../../../adapters/postgres/queries/fathom.ts";
import { listFathomRasters } from "../../../adapters/postgres/queries/fathom.ts";
import { ensureSpace } from "../../../adapters/gdal/ensure-space.ts";
import { pixelBytes, toGdalType } from "../../../core/raster/data-type.ts";
import type { MosaicLayout } from "../../../core/raster/lay-out.ts";
import { layOut } from "../../../core/raster/lay-out.ts";
import { mosaicVrt } from "../../../core/raster/vrt.ts";
import { defineHandler } from "../../define-handler.ts";
import type { HandlerContext } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";
import { hashFile } from "../hash-content.ts";
import { runGdal, temporaryFile } from "../raster/run-gdal.ts";
import { requireDatabase } from "../require-database.ts";
import { findMade, requirePlanned } from "./check-made.ts";
import type { BandFile } from "./write-bands.ts";
import { finishRaster, writeBands } from "./write-bands.ts";

interface Member {
  readonly file: string;
  readonly facts: MadeRaster["facts"];
}

export const spatialMerge = defineHandler("fathom_spatial_merge", async (params, context) => {
  const row = await requirePlanned(context, { ...params, phase: "merge" });
  const made = await findMade(context, row);
  if (made !== undefined) {
    return { ...params, blob_path: made.path, checksum: made.checksum, reused: true };
  }
  const members = await openMembers(context, row);
  const layout = layOut(members.map(({ facts }) => facts));
  if (typeof layout === "string") {
    const text = `The tiles of ${row.place} cannot be one raster: ${layout}`;
    throw new PermanentError(text, { code: "MOSAIC_NOT_POSSIBLE" });
  }
  const bands: BandFile[] = [];
  for (const index of row.return_periods.keys()) {
    context.signal.throwIfAborted();
    bands.push(await mergeBand(context, members, layout, index));
    context.progress((50 * (index + 1)) / row.return_periods.length);
  }
  const written = await writeBands(context, row, bands, [50, 95]);
  return { ...params, ...(await finishRaster(context, row, written)), reused: false };
});

/**
 * The stacks on this machine. Each is hashed: a virtual raster is made over files that fathom_band_stack
 * has written, and over no others.
 */
async function openMembers(context: HandlerContext, row: FathomRow): Promise<Member[]> {
  const { storage, signal } = context;
  const stacks = await listFathomRasters(requireDatabase(context), row.dataset, "stack");
  const members: Member[] = [];
  for (const { path, tag } of row.inputs) {
    const stack = stacks.find((each) => each.made_of !== null && each.path === path);
    let file = await storage.localPath(path);
    if (file === undefined) {
      file = temporaryFile(context, "member.tif");
      await ensureSpace(context.workDir, (await storage.head(path))?.bytes ?? 0);
      await storage.getFile(path, file, { signal });
    }
    const isOurs = stack !== undefined && stack.made_of !== null;
    if (!isOurs || (await hashFile(file, signal)) !== tag || stack.checksum !== tag) {
      const text = `"${path}" is not the stack that was recorded: run the workflow again.`;
      throw new PermanentError(text, { code: "SOURCE_CHANGED" });
    }
    members.push({ file, facts: stack.facts });
  }
  return members;
}

const layoutOptions = ["TILED=YES", "COMPRESS=DEFLATE", "ZLEVEL=1", "SPARSE_OK=TRUE"];
const creation = [...layoutOptions, "BIGTIFF=IF_SAFER"].flatMap((option) => ["-co", option]);

async function mergeBand(
  context: HandlerContext,
  members: readonly Member[],
  { frame, places }: MosaicLayout,
  index: number,
): Promise<BandFile> {
  const band = members[0]?.facts.bands[index];
  if (band === undefined) throw new Error("a stack without a band for each return period");
  const vrt = temporaryFile(context, "band.vrt");
  const text = mosaicVrt({
    ...frame,
    members: places.map((place, at) => ({ ...place, file: members[at]?.file ?? "" })),
    bands: [
      {
        type: toGdalType(band.data_type),
        color: band.color,
        nodata: band.nodata,
        sourceBand: index + 1,
      },
    ],
    hasMask: false,
  });
  await writeFile(vrt, text);
  const file = temporaryFile(context, "band.tif");
  await ensureSpace(context.workDir, pixelBytes([band]) * frame.width * frame.height);
  await runGdal(context, "gdal_translate", ["-q", "-of", "GTiff", ...creation, vrt, file], {
    sources: members.map((member) => member.file),
    drivers: ["VRT", "GTiff", "MEM"],
  });
  const { code, name } = members[0]?.facts.crs ?? { code: null, name: "" };
  const crs = { code, name, wkt2: frame.wkt2 };
  return { file, raster: { ...frame, crs, bands: [band] } };
}
