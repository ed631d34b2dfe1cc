import type { TokenCredential } from "@azure/identity";
import type { BlobServiceClient } from "@azure/storage-blob";
import type { Zone } from "./storage.ts";

export interface AzureSettings {
  /** With it the machine's own identity is used, and no key exists anywhere. */
  readonly account?: string | undefined;
  /** For an emulator, or where there are no identities. */
  readonly connectionString?: string | undefined;
  readonly containers: Readonly<Record<Zone, string>>;
  /** Another address than that of the account, and who asks there. */
  readonly endpoint?: { readonly url: string; readonly credential: TokenCredential } | undefined;
}

const options = { retryOptions: { maxTries: 5 } };

/** The client's packages are large and only loaded by who uses them. */
export async function openAzure(settings: AzureSettings): Promise<BlobServiceClient> {
  const { BlobServiceClient: Client } = await import("@azure/storage-blob");
  const { account, connectionString, endpoint } = settings;
  const service =
    endpoint !== undefined
      ? new Client(endpoint.url, endpoint.credential, options)
      : connectionString !== undefined
        ? Client.fromConnectionString(connectionString, options)
        : new Client(`https://${account ?? ""}.blob.core.windows.net`, await identity(), options);
  await Promise.all(
    Object.values(settings.containers).map((name) =>
      service
        .getContainerClient(name)
        .createIfNotExists()
        .catch((error: unknown) => {
          // Who may not create containers was given those that exist.
          if ((error as { statusCode?: number }).statusCode !== 403) throw error;
        }),
    ),
  );
  return service;
}

async function identity(): Promise<TokenCredential> {
  const { DefaultAzureCredential } = await import("@azure/identity");
  return new DefaultAzureCredential();
}
