import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { listKeys } from "../../adapters/postgres/queries/platforms.ts";
import { findPlatform, listPlatforms } from "../../adapters/postgres/queries/platforms.ts";
import type { keyContracts } from "../../core/api/keys.ts";
import type { platformContracts } from "../../core/api/platforms.ts";
import { Problem } from "../../core/errors.ts";
import { auditContextOf, etag } from "../audit-context.ts";
import type { CallbackSettings } from "../partner-callbacks/check-callback-url.ts";
import { showPlatformSecret } from "../partner-callbacks/show-secret.ts";
import type { NewApiKey } from "./api-keys.ts";
import { createKey, revokeKey, rotateKey } from "./api-keys.ts";
import { putPlatform } from "./put-platform.ts";

export interface PlatformRouteDeps {
  readonly db: Database;
  readonly callbacks: CallbackSettings;
}

/** Platforms, and the API keys of their partners. */
export function platformRoutes({
  db,
  callbacks,
}: PlatformRouteDeps): Handlers<typeof platformContracts> & Handlers<typeof keyContracts> {
  return {
    listPlatforms: async () => ({ items: await listPlatforms(db), next_cursor: null }),

    getPlatform: async ({ params: { platform_id } }) => {
      const platform = await findPlatform(db, platform_id);
      if (platform !== undefined) {
        return new Answer(platform, { headers: etag(platform.row_version) });
      }
      throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${platform_id}".`);
    },

    putPlatform: async (request) => {
      const { params, body } = request;
      const audit = auditContextOf(request, undefined);
      const { platform, created } = await putPlatform(db, params.platform_id, body, audit);
      const headers = etag(platform.row_version);
      return new Answer(platform, { status: created ? 201 : 200, headers });
    },

    callbackSecret: async ({ params, body }) => {
      const shown = await showPlatformSecret({ db, callbacks }, params.platform_id, body.rotate);
      return new Answer(shown, { headers: { "cache-control": "no-store" } });
    },

    listKeys: async ({ query }) => ({ items: await listKeys(db, query), next_cursor: null }),
    createKey: async (request) => {
      const { actor, ...wanted } = request.body;
      return shownOnce(await createKey(db, wanted, auditContextOf(request, actor)));
    },
    rotateKey: async (request) => {
      const { actor, grace_seconds } = request.body;
      const { key_id } = request.params;
      return shownOnce(await rotateKey(db, key_id, grace_seconds, auditContextOf(request, actor)));
    },
    revokeKey: async (request) =>
      revokeKey(db, request.params.key_id, auditContextOf(request, request.body.actor)),
  };
}

function shownOnce(key: NewApiKey): Answer {
  return new Answer(key, { status: 201, headers: { "cache-control": "no-store" } });
}
