/** Commands: small administrative actions that run at once in this process, without a job. */
import { z } from "zod";
import type { Caller, Handlers } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { notifyCaches, recordCommand } from "../../adapters/postgres/repositories/commands.ts";
import type { commandContracts } from "../../core/api/commands.ts";
import { Problem } from "../../core/errors.ts";
import { assetId } from "../../core/model/asset.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";
import type { AssetDeps } from "../assets/deps.ts";
import type { AuditContext } from "../audit-context.ts";
import { publishExternal, unpublishExternal } from "../layers/publish-external.ts";
import { publishMetadata, reindexAsset, unpublishMetadata } from "../layers/publish-metadata.ts";

interface Command {
  readonly name: string;
  readonly summary: string;
  readonly input: z.ZodType<JsonObject>;
  run(input: JsonObject, caller: Caller): Promise<Json>;
}

const ping: Command = {
  name: "ping",
  summary: "Answers, and leaves its audit event: for trying out.",
  input: z.strictObject({ message: z.string().max(1024).optional() }) as z.ZodType<JsonObject>,
  run: async (input, caller) => ({ pong: true, caller: caller.name, ...input }),
};

function makeCommands(assets: AssetDeps): readonly Command[] {
  const ofAsset = (
    name: string,
    summary: string,
    run: (deps: AssetDeps, asset: string, audit: AuditContext) => Promise<JsonObject>,
  ): Command => ({
    name,
    summary,
    input: z.strictObject({ asset_id: assetId }),
    run: (input, caller) =>
      run(assets, assetId.parse(input["asset_id"]), { actor: caller.name, via: caller.name }),
  });
  return [
    ping,
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
      "metadata.publish_external",
      "Writes a public asset's layer and items to the external database.",
      publishExternal,
    ),
    ofAsset(
      "metadata.unpublish_external",
      "Removes an asset's layer and items from the external database.",
      unpublishExternal,
    ),
    ofAsset(
      "asset.reindex",
      "Writes the entries of an asset in the catalogues again from its tables.",
      reindexAsset,
    ),
    {
      name: "cache.invalidate",
      summary: "Has every orchestrator read its workflow files again.",
      input: z.strictObject({}),
      run: async () => {
        const findings = await assets.engine.workflows.reload();
        await notifyCaches(assets.db);
        return { reloaded: true, findings: findings.length };
      },
    },
  ];
}

export interface CommandRouteDeps {
  readonly db: Database;
  readonly assets: AssetDeps;
}

export function commandRoutes({ db, assets }: CommandRouteDeps): Handlers<typeof commandContracts> {
  const commands = new Map(makeCommands(assets).map((command) => [command.name, command]));
  return {
    listCommands: async () => ({
      items: [...commands.values()].map(({ name, summary, input }) => ({
        name,
        summary,
        input: z.toJSONSchema(input, { io: "input" }) as unknown as JsonObject,
      })),
      next_cursor: null,
    }),

    runCommand: async ({ params: { name }, body, caller }) => {
      const command = commands.get(name);
      if (command === undefined || caller === undefined) {
        const known = [...commands.keys()].join(", ");
        throw new Problem(
          "COMMAND_NOT_FOUND",
          `There is no command "${name}"; there are: ${known}.`,
        );
      }
      const input = command.input.safeParse(body);
      if (!input.success) {
        const items = input.error.issues.map(({ path, code, message }) => ({
          pointer: path.map((key) => `/${String(key)}`).join(""),
          code: code,
          message,
        }));
        throw new Problem("BAD_REQUEST", `The input does not fit the command ${name}.`, items);
      }
      const run = { name, caller: caller.name, input: input.data };
      try {
        const result = await command.run(input.data, caller);
        return { name, audit_id: await recordCommand(db, { ...run, ok: true }), result };
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        await recordCommand(db, { ...run, ok: false, detail });
        throw error;
      }
    },
  };
}
