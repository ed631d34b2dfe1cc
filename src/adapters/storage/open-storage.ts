import { createLocalStorage } from "./local-storage.ts";
import type { StorageSettings } from "./settings.ts";
import type { Storage } from "./storage.ts";

/** The storage that the configuration names. */
export async function openStorage(settings: StorageSettings): Promise<Storage> {
  if (settings.backend === "azure") {
    const { createAzureStorage } = await import("./azure-storage.ts");
    return createAzureStorage(settings);
  }
  const { folder, publicUrl } = settings;
  return createLocalStorage(folder, publicUrl === undefined ? {} : { publicUrl });
}
