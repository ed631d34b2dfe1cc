import type { Database } from "../../adapters/postgres/database.ts";
import { findPlatform } from "../../adapters/postgres/queries/platforms.ts";
import {
  hasAssets,
  insertPlatform,
  updatePlatform,
} from "../../adapters/postgres/repositories/platforms.ts";
import { callbackProblem } from "../../core/domain/partner-callbacks.ts";
import { Problem } from "../../core/errors.ts";
import type { Platform, PlatformEdit } from "../../core/model/platform.ts";
import type { AuditContext } from "../audit-context.ts";
import { refuseStale } from "../audit-context.ts";

export async function putPlatform(
  db: Database,
  platformId: string,
  edit: PlatformEdit,
  { ifMatch }: AuditContext,
): Promise<{ readonly platform: Platform; readonly created: boolean }> {
  refuseUnlistedUrl(edit);
  return db.transaction(async (tx) => {
    const created = await insertPlatform(tx, platformId, edit);
    const before = await findPlatform(tx, platformId);
    if (before === undefined) throw new Error("a platform that was written is not there");
    if (created) return { platform: before, created };
    if (ifMatch === undefined) {
      throw new Problem(
        "EDIT_NEEDS_MATCH",
        `"${platformId}" is registered: send its row_version in If-Match to replace it.`,
      );
    }
    refuseStale(before.row_version, ifMatch);
    if (changesIdentity(before, edit) && (await hasAssets(tx, platformId))) {
      throw new Problem(
        "PLATFORM_IN_USE",
        "Its assets are identified by its required references: these can no longer change, and no optional one can go.",
      );
    }
    if (!(await updatePlatform(tx, platformId, before.row_version, edit))) {
      throw new Problem("EDIT_CONFLICT", "It was changed meanwhile. Read it again.");
    }
    const platform = await findPlatform(tx, platformId);
    return { platform: platform ?? before, created };
  });
}

/** Without this check, every callback of the platform would be refused when it is sent. */
function refuseUnlistedUrl({ callback_url, callback_hosts }: PlatformEdit): void {
  const message = callback_url && callbackProblem(new URL(callback_url), callback_hosts);
  if (!message) return;
  throw new Problem("BAD_REQUEST", "The platform was not saved.", [
    { pointer: "/callback_url", code: "CALLBACK_URL", message },
  ]);
}

/** A new optional reference changes no identity: assets without it keep their ids. */
function changesIdentity(before: Platform, after: PlatformEdit): boolean {
  const same = [...before.required_refs].sort().join() === [...after.required_refs].sort().join();
  return !same || before.optional_refs.some((name) => !after.optional_refs.includes(name));
}
