import { baseOf } from "../../adapters/http/base-url.ts";
import type { ApiRequest } from "../../adapters/http/handler.ts";
import type { RemoteLeases } from "../../adapters/broker/broker.ts";
import type { Database } from "../../adapters/postgres/database.ts";
import type { Storage, Zone } from "../../adapters/storage/storage.ts";
import { BadStoragePath, NotInStorage, splitPath } from "../../adapters/storage/storage.ts";
import type { Contract } from "../../core/api/contract.ts";
import { Problem } from "../../core/errors.ts";
import type { TaskMessage } from "../../core/messages.ts";

export interface WantedAddress {
  readonly lease: string;
  readonly path: string;
  readonly method: "GET" | "PUT";
}

/** Products of workflows; uploads, public files and results of tasks are not written by workers. */
const writable: ReadonlySet<Zone> = new Set<Zone>(["silver", "gold"]);

/**
 * Signs an address for a task that the worker holds. A worker with a confined token reads only what
 * the parameters of its task name.
 */
export async function signAddress(
  deps: { readonly db: Database; readonly leases: RemoteLeases; readonly storage: Storage },
  holder: string,
  { lease, path, method }: WantedAddress,
  request: Pick<ApiRequest<Contract>, "caller" | "header">,
) {
  const held = await deps.db.transaction((tx) => deps.leases.hold(tx, holder, lease));
  if (held === undefined) {
    throw new Problem("STALE_ATTEMPT", `This worker does not hold the lease ${lease}.`);
  }
  const zone = zoneOf(path);
  if (method === "PUT" && !writable.has(zone)) {
    throw new Problem("FORBIDDEN", `Workers put objects into ${[...writable].join(" and ")} only.`);
  }
  const { queues = null, handlers = null } = request.caller?.confined ?? {};
  const { params } = JSON.parse(held.body) as TaskMessage;
  if (method === "GET" && (queues ?? handlers) !== null && !names(params, path)) {
    throw new Problem("FORBIDDEN", `The parameters of the task do not name "${path}".`);
  }
  if (method === "GET" && (await deps.storage.head(path)) === undefined) {
    throw new Problem("NOT_FOUND", new NotInStorage(path).message);
  }
  const signed = await deps.storage.signedUrl(path, { method });
  return {
    url: signed.startsWith("/") ? `${baseOf(request)}${signed}` : signed,
    method,
    headers:
      method === "GET"
        ? {}
        : { "content-type": "application/octet-stream", "x-ms-blob-type": "BlockBlob" },
  };
}

function zoneOf(path: string): Zone {
  try {
    return splitPath(path)[0];
  } catch (error) {
    if (error instanceof BadStoragePath) throw new Problem("BAD_REQUEST", error.message);
    throw error;
  }
}

/** Whether a text in the parameters is the path, or a folder of it. */
function names(value: unknown, path: string): boolean {
  if (typeof value === "string") {
    return value === path || (value.length > 0 && path.startsWith(`${value.replace(/\/$/, "")}/`));
  }
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((each) => names(each, path));
}
