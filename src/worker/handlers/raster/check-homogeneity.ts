import { checkHomogeneity as compare } from "../../../core/raster/homogeneity.ts";
import { defineHandler } from "../../define-handler.ts";
import { PermanentError } from "../../errors.ts";

export const checkHomogeneity = defineHandler("raster.check_homogeneity", async ({ members }) => {
  const findings = compare(
    members.map((member) => ({
      ...member,
      data_type: member.dtype,
      crs: member.crs_definition,
    })),
  );
  if (findings.length > 0) {
    const words = findings.map(
      ({ code, blob_path, message }) => `${code} "${blob_path}": ${message}`,
    );
    throw new PermanentError(
      `These rasters cannot be one collection. ${words.slice(0, 20).join(" ")} Submit what is alike together.`,
      {
        code: "COLLECTION_NOT_HOMOGENEOUS",
        details: { findings: findings.slice(0, 200).map((finding) => ({ ...finding })) },
      },
    );
  }
  const [first] = members;
  return {
    count: members.length,
    crs: first?.crs_definition?.code ?? first?.crs_definition?.wkt2 ?? null,
    dtype: first?.dtype ?? "unknown",
    band_count: first?.band_count ?? 0,
    raster_type: first?.raster_type ?? "unknown",
  };
});
