import { createLocalStaging } from "./local-staging.ts";
import { createLocalStorage } from "./local-storage.ts";
import type { StorageSettings } from "./settings.ts";
import type { Staging } from "./staging.ts";
import type { Storage } from "./storage.ts";

/** The storage that the configuration names. */
export async function openStorage(settings: StorageSettings): Promise<Storage> {
  switch (settings.backend) {
    case "azure":
      return (await import("./azure-storage.ts")).createAzureStorage(settings);
    case "s3":
      return (await import("./s3-storage.ts")).createS3Storage(settings);
    default:
      return openLocal(settings);
  }
}

/** The same with the place in which uploads wait. */
export async function openStorageWithStaging(
  settings: StorageSettings,
): Promise<{ storage: Storage; staging: Staging }> {
  if (settings.backend === "local") {
    const storage = openLocal(settings);
    return { storage, staging: createLocalStaging(settings.folder, storage) };
  }
  const storage = await openStorage(settings);
  const staging =
    settings.backend === "azure"
      ? await (await import("./azure-staging.ts")).createAzureStaging(settings, storage)
      : await (await import("./s3-staging.ts")).createS3Staging(settings, storage);
  return { storage, staging };
}

function openLocal({ folder, publicUrl }: StorageSettings) {
  return createLocalStorage(folder, publicUrl === undefined ? {} : { publicUrl });
}
