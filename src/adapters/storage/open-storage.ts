import { createLocalStaging } from "./local-staging.ts";
import { createLocalStorage } from "./local-storage.ts";
import type { StorageSettings } from "./settings.ts";
import type { Staging } from "./staging.ts";
import type { Storage } from "./storage.ts";

/** The storage that the configuration names. */
export async function openStorage(settings: StorageSettings): Promise<Storage> {
  return settings.backend === "azure" ? openAzureStorage(settings) : openLocal(settings);
}

/** The same with the place in which uploads wait. */
export async function openStorageWithStaging(
  settings: StorageSettings,
): Promise<{ storage: Storage; staging: Staging }> {
  if (settings.backend === "azure") {
    const storage = await openAzureStorage(settings);
    const { createAzureStaging } = await import("./azure-staging.ts");
    return { storage, staging: await createAzureStaging(settings, storage) };
  }
  const storage = openLocal(settings);
  return { storage, staging: createLocalStaging(settings.folder, storage) };
}

async function openAzureStorage(settings: StorageSettings): Promise<Storage> {
  const { createAzureStorage } = await import("./azure-storage.ts");
  return createAzureStorage(settings);
}

function openLocal({ folder, publicUrl }: StorageSettings) {
  return createLocalStorage(folder, publicUrl === undefined ? {} : { publicUrl });
}
