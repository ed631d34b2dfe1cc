import { setExposure as write } from "../../adapters/postgres/repositories/assets.ts";
import { Problem } from "../../core/errors.ts";
import type { Exposure } from "../../core/model/asset.ts";
import { changeAsset } from "./change-asset.ts";
import type { Act, DomainDeps } from "./deps.ts";

export function setExposure(
  deps: DomainDeps,
  assetId: string,
  exposure: Exposure,
  act: Act,
): Promise<void> {
  return changeAsset(deps, assetId, act, ({ tx, asset, record }) => {
    if (asset.deleted_at !== null) {
      throw new Problem("TRANSITION_REFUSED", "The exposure cannot change: it was deleted.");
    }
    if (asset.exposure === exposure) return;
    write(tx, assetId, exposure);
    record("exposure_changed", undefined, { from: asset.exposure, to: exposure });
  });
}
