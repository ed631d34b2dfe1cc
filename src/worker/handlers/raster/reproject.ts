import { defineHandler } from "../../define-handler.ts";
import { makeCog } from "./create-cog.ts";
import { stemOf } from "./destination.ts";

export const reproject = defineHandler("raster_reproject", async (params, context) => {
  const { written } = await makeCog(context, params, `${stemOf(params.blob_path)}_reprojected`);
  return written;
});
