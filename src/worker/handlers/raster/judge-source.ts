import type { RasterCrs, RasterType } from "../../../core/raster/facts.ts";
import { describeFindings } from "../../../core/raster/finding.ts";
import type { RasterFinding } from "../../../core/raster/finding.ts";
import { PermanentError } from "../../errors.ts";

/** What a submission says about its file, with null for what it does not say. */
export interface Described {
  readonly source_crs?: string | null | undefined;
  readonly raster_type?: RasterType | null | undefined;
  readonly nodata?: number | null | undefined;
  readonly allow_downcast?: boolean | undefined;
}

/** A rejected raster: the code of the worst finding, and all of them in words and as data. */
export class RasterRejected extends PermanentError {
  constructor(display: string, findings: readonly RasterFinding[]) {
    const worst = findings.find(({ severity }) => severity === "reject");
    super(`"${display}" was rejected. ${describeFindings(findings)}`, {
      code: worst?.code ?? "RASTER_REJECTED",
      details: { verdict: "rejected", findings: findings.map((finding) => ({ ...finding })) },
    });
  }
}

export function policyOf(described: Described, givenCrs: RasterCrs | null) {
  return {
    givenCrs,
    rasterType: described.raster_type ?? undefined,
    nodata: described.nodata ?? undefined,
    allowDowncast: described.allow_downcast ?? false,
  };
}
