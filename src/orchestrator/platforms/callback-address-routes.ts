import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import {
  deleteCallbackAddress,
  listCallbackAddresses,
  rotateAddressSecret,
  writeCallbackAddress,
} from "../../adapters/postgres/repositories/callback-addresses.ts";
import type { callbackAddressContracts } from "../../core/api/callback-addresses.ts";
import { Problem } from "../../core/errors.ts";
import type { CallbackAddress } from "../../core/model/callback-address.ts";
import type { CallbackSettings } from "../partner-callbacks/check-callback-url.ts";
import { checkCallbackUrl } from "../partner-callbacks/check-callback-url.ts";
import { requireSigningKey } from "../partner-callbacks/show-secret.ts";
import { addressSecret } from "../partner-callbacks/sign-callback.ts";

/** Further addresses of a platform's callbacks. */
export function callbackAddressRoutes({
  db,
  callbacks,
}: {
  readonly db: Database;
  readonly callbacks: CallbackSettings;
}): Handlers<typeof callbackAddressContracts> {
  async function required(platform_id: string, name: string): Promise<CallbackAddress> {
    const [found] = await listCallbackAddresses(db, { platform_id, name });
    if (found !== undefined) return found;
    throw new Problem("NOT_FOUND", `"${platform_id}" has no callback address "${name}".`);
  }

  return {
    listCallbackAddresses: async ({ query }) => ({
      items: await listCallbackAddresses(db, query),
      next_cursor: null,
    }),

    putCallbackAddress: async ({ params: { platform_id, name }, body }) => {
      const platform = await findPlatform(db, platform_id);
      if (platform === undefined) {
        throw new Problem("PLATFORM_NOT_FOUND", `There is no platform "${platform_id}".`);
      }
      const findings = checkCallbackUrl(callbacks, platform.callback_hosts, body.url);
      if (findings.length > 0) {
        const shown = findings.map((finding) => ({ ...finding, pointer: "/url" }));
        throw new Problem("BAD_REQUEST", "The address was not saved.", shown);
      }
      await writeCallbackAddress(db, platform_id, name, body);
      return required(platform_id, name);
    },

    deleteCallbackAddress: async ({ params: { platform_id, name } }) => {
      await required(platform_id, name);
      return { deleted: await deleteCallbackAddress(db, platform_id, name) };
    },

    callbackAddressSecret: async ({ params: { platform_id, name }, body: { rotate } }) => {
      const signingKey = requireSigningKey(callbacks);
      if (rotate) await rotateAddressSecret(db, platform_id, name);
      const { secret_number, secret_changed_at } = await required(platform_id, name);
      const secret = addressSecret(signingKey, platform_id, name, secret_number);
      return new Answer(
        { platform_id, name, secret, secret_number, secret_changed_at },
        { headers: { "cache-control": "no-store" } },
      );
    },
  };
}
