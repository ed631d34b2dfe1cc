import path from "node:path";
import { createLocalStorage } from "../../adapters/storage/local-storage.ts";
import type { Storage } from "../../adapters/storage/storage.ts";

/** Opens the storage of the demo's site: a folder beside its database. */
export function openDemoStorage(dataFolder: string): Pick<Storage, "put"> {
  return createLocalStorage(path.join(dataFolder, "storage"));
}
