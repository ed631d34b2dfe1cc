import { z } from "zod";
import type { Caller } from "../../adapters/http/handler.ts";
import { notifyCaches } from "../../adapters/postgres/repositories/commands.ts";
import { assetId } from "../../core/model/asset.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Command } from "./command-registry.ts";
import type { Act, DomainDeps } from "../assets/deps.ts";
import { publishMetadata, reindexAsset, unpublishMetadata } from "../layers/publish-metadata.ts";

/** What is done to the domain at once, without a job. */
export function domainCommands(deps: DomainDeps): readonly Command[] {
  const ofAsset = (
    name: string,
    summary: string,
    run: (deps: DomainDeps, asset: string, act: Act) => Promise<JsonObject>,
  ): Command => ({
    name,
    summary,
    input: z.strictObject({ asset_id: assetId }),
    run: (input, caller) => run(deps, assetId.parse(input["asset_id"]), actOf(caller)),
  });
  return [
    ofAsset(
      "metadata.publish",
      "Shows an asset's layer metadata in the layer catalogue and in STAC.",
      publishMetadata,
    ),
    ofAsset(
      "metadata.unpublish",
      "Takes an asset's layer metadata out of the layer catalogue and STAC.",
      unpublishMetadata,
    ),
    ofAsset(
      "asset.reindex",
      "Makes the catalogues say again what is known of an asset.",
      reindexAsset,
    ),
    {
      name: "cache.invalidate",
      summary: "Has every orchestrator read its workflow files again.",
      input: z.strictObject({}),
      run: async () => {
        const findings = await deps.engine.workflows.reload();
        await notifyCaches(deps.db);
        return { reloaded: true, findings: findings.length };
      },
    },
  ];
}

function actOf({ name }: Caller): Act {
  return { actor: name, via: name };
}
