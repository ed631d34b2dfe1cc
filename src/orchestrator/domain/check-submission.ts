import { KnownError } from "../../adapters/runtime/known-error.ts";
import { callbackProblem } from "../../core/domain/callback-host.ts";
import type { BlobInput } from "../../core/domain/preflight.ts";
import { preflight } from "../../core/domain/preflight.ts";
import type { ProblemItem } from "../../core/errors.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { Platform } from "../../core/model/platform.ts";
import type { DomainDeps } from "./deps.ts";
import { domainInputs, reservedInputs } from "./domain-inputs.ts";

export interface Checked {
  readonly workflow_id: string;
  readonly inputs: JsonObject;
  readonly callback_url?: string | undefined;
}

/** Everything that is wrong with what is to be processed, found before anything is written. */
export async function checkWork(
  deps: Pick<DomainDeps, "engine" | "sources" | "callbacks">,
  platform: Platform,
  { workflow_id, inputs, callback_url }: Checked,
): Promise<ProblemItem[]> {
  const findings =
    callback_url === undefined ? [] : checkCallback(deps, platform.callback_hosts, callback_url);
  try {
    const { definition } = await deps.engine.workflows.current(workflow_id);
    findings.push(...reservedInputs(definition, inputs));
    const placeholder = {
      ...{ asset_id: "0".repeat(32), version_ordinal: 0, version_label: "-", revision: 1 },
      ...{ request_id: "-", platform_id: platform.platform_id, platform_refs: {} },
    };
    const found = preflight(definition, { ...inputs, ...domainInputs(definition, placeholder) });
    findings.push(...found.findings);
    for (const blob of found.blobs) findings.push(...(await checkBlob(deps, blob)));
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const { code, message, items } = error;
    findings.push(...(items.length > 0 ? items : [{ pointer: "/workflow_id", code, message }]));
  }
  return findings;
}

/** `hosts` are the platform's, or those of jobs that no platform asked for. */
export function checkCallback(
  { callbacks }: Pick<DomainDeps, "callbacks">,
  hosts: readonly string[],
  url: string,
): ProblemItem[] {
  const pointer = "/callback_url";
  if (callbacks.signingKey === undefined) {
    const message = "callbacks are switched off here: no CALLBACK_SIGNING_KEY is configured";
    return [{ pointer, code: "CALLBACKS_OFF", message }];
  }
  const message = callbackProblem(new URL(url), hosts);
  return message === undefined ? [] : [{ pointer, code: "CALLBACK_URL", message }];
}

/** Storage is looked into; other sources are for the worker, which alone may reach them. */
async function checkBlob(
  { sources }: Pick<DomainDeps, "sources">,
  { pointer, blob_path, container }: BlobInput,
): Promise<ProblemItem[]> {
  if (blob_path.includes("://") || blob_path.startsWith("/")) return [];
  try {
    const source = await sources.resolve(blob_path, container);
    // Results are ours: a reference into them would show one platform what another's job made.
    if (source.display.startsWith("results/")) {
      return [{ pointer, code: "BLOB_PATH", message: "must not lie among the results of jobs" }];
    }
    if ((await source.head()) !== undefined) return [];
    const message = `there is nothing at ${source.display}`;
    return [{ pointer, code: "BLOB_NOT_FOUND", message }];
  } catch (error) {
    if (!(error instanceof KnownError) || error.category !== "permanent") throw error;
    return [{ pointer, code: "BLOB_PATH", message: error.message }];
  }
}
