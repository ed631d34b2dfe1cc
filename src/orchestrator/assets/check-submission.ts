import { KnownError } from "../../adapters/runtime/known-error.ts";
import { rightToCollection } from "../../adapters/postgres/queries/catalogue-owners.ts";
import type { BlobInput, CollectionInput } from "../../core/domain/preflight.ts";
import {
  isBelow,
  isForPlatforms,
  preflight,
  sourcePrefixesOf,
} from "../../core/domain/preflight.ts";
import type { ProblemItem } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Platform } from "../../core/model/platform.ts";
import { checkCallbackUrl } from "../partner-callbacks/check-callback-url.ts";
import type { AssetDeps } from "./deps.ts";
import { reservedInputs, versionInputs } from "./version-inputs.ts";

export interface Work {
  readonly workflow_id: string;
  readonly inputs: JsonObject;
  readonly callback_url?: string | undefined;
}

/** Finds everything that is wrong with a submission before anything is written. */
export async function checkWork(
  deps: Pick<AssetDeps, "db" | "engine" | "sources" | "callbacks">,
  platform: Platform,
  { workflow_id, inputs, callback_url }: Work,
): Promise<ProblemItem[]> {
  const findings =
    callback_url === undefined
      ? []
      : checkCallbackUrl(deps.callbacks, platform.callback_hosts, callback_url);
  try {
    const { definition } = await deps.engine.workflows.current(workflow_id);
    if (!isForPlatforms(definition)) {
      const message = `"${workflow_id}" looks after the whole platform and is for operators`;
      return [...findings, { pointer: "/workflow_id", code: "WORKFLOW_NOT_OFFERED", message }];
    }
    findings.push(...reservedInputs(definition, inputs));
    const placeholder = {
      asset_id: "0".repeat(32),
      version_ordinal: 0,
      version_label: "-",
      revision: 1,
      request_id: "-",
      platform_id: platform.platform_id,
      platform_refs: {},
    };
    const found = preflight(definition, { ...inputs, ...versionInputs(definition, placeholder) });
    findings.push(...found.findings);
    const ofBlobs = found.blobs.map((blob) => checkBlob(deps, platform, blob));
    const ofCollections = found.collections.map((each) => checkCollection(deps, platform, each));
    findings.push(...(await Promise.all([...ofBlobs, ...ofCollections])).flat());
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const { code, message, items } = error;
    findings.push(...(items.length > 0 ? items : [{ pointer: "/workflow_id", code, message }]));
  }
  return findings;
}

/** The job would be refused the collection at its end, so a submission is refused at once. */
async function checkCollection(
  { db }: Pick<AssetDeps, "db">,
  { platform_id }: Platform,
  { pointer, collection_id }: CollectionInput,
): Promise<ProblemItem[]> {
  const { allowed } = await rightToCollection(db, platform_id, collection_id);
  if (allowed) return [];
  const message = "is not a collection of this platform: choose another name, or ask an operator";
  return [{ pointer, code: "COLLECTION_NOT_YOURS", message }];
}

/** Looks for the file where its path points: in storage, at a server, on a mount, in an archive. */
async function checkBlob(
  { sources }: Pick<AssetDeps, "sources">,
  platform: Platform,
  { pointer, blob_path, container }: BlobInput,
): Promise<ProblemItem[]> {
  try {
    const source = await sources.resolve(blob_path, container);
    // Before the file is looked for, so that the answer does not reveal whether it exists.
    const prefixes = sourcePrefixesOf(platform);
    if (!isBelow(source.display, prefixes)) {
      const message = `must lie below ${prefixes.join(" or ")}`;
      return [{ pointer, code: "BLOB_OUTSIDE", message }];
    }
    // A reference into the results would show one platform the outputs of another.
    if (source.display.startsWith("results/")) {
      return [{ pointer, code: "BLOB_PATH", message: "must not lie among the results of jobs" }];
    }
    if ((await source.head()) !== undefined) return [];
    const message = `there is nothing at ${source.display}`;
    return [{ pointer, code: "BLOB_NOT_FOUND", message }];
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    const { code, message } = error;
    if (code === "SOURCE_UNREACHABLE") {
      return [{ pointer, code, message: `${message} Submit it again when it can be.` }];
    }
    if (error.category !== "permanent") throw error;
    return [{ pointer, code: "BLOB_PATH", message }];
  }
}
