import type { TokenCredential } from "@azure/identity";
import type { BlobServiceClient, UserDelegationKey } from "@azure/storage-blob";
import type { SignedMethod } from "./storage.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Zone } from "./storage.ts";

export interface AzureSettings {
  /** Uses the identity of the machine, so that no key exists. */
  readonly account?: string | undefined;
  /** For an emulator, or where machines have no identity. */
  readonly connectionString?: string | undefined;
  readonly containers: Readonly<Record<Zone, string>>;
  /** Another URL than that of the account, with its credential. */
  readonly endpoint?: { readonly url: string; readonly credential: TokenCredential } | undefined;
}

const options = { retryOptions: { maxTries: 5 } };

/** Loads the packages of Azure, which are large, at the first use. */
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
          // An identity that may not create containers uses those that exist.
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

export interface AzureSigner {
  /** Gives a URL that can read, or put, this one blob for `seconds`. */
  sign(
    at: { container: string; key: string },
    seconds: number,
    method?: SignedMethod,
  ): Promise<string>;
}

/** Signatures begin in the past, because the clocks of machines differ. */
const earlierMs = 15 * 60 * 1000;
const keyMs = 2 * 60 * 60 * 1000;

/**
 * Signs with a user delegation key, which the service gives to our identity for two hours, or with
 * the account's key where the connection string has one.
 */
export function createAzureSigner(
  service: BlobServiceClient,
  clock: Clock = systemClock,
): AzureSigner {
  let delegation: { key: UserDelegationKey; until: number } | undefined;

  async function delegationKey(until: number): Promise<UserDelegationKey> {
    if (delegation !== undefined && delegation.until >= until) return delegation.key;
    const now = clock.now().getTime();
    const end = Math.max(until, now + keyMs);
    const key = await service.getUserDelegationKey(new Date(now - earlierMs), new Date(end));
    delegation = { key, until: end };
    return key;
  }

  return {
    sign: async ({ container, key }, seconds, method = "GET") => {
      const { BlobSASPermissions, StorageSharedKeyCredential, generateBlobSASQueryParameters } =
        await import("@azure/storage-blob");
      const now = clock.now().getTime();
      const expires = now + seconds * 1000;
      const isLocal = service.url.startsWith("http:");
      const permission = {
        containerName: container,
        blobName: key,
        permissions: BlobSASPermissions.parse(method === "GET" ? "r" : "cw"),
        startsOn: new Date(now - earlierMs),
        expiresOn: new Date(expires),
        ...(isLocal ? {} : { protocol: "https" as never }),
      };
      const { credential, accountName } = service;
      const query =
        credential instanceof StorageSharedKeyCredential
          ? generateBlobSASQueryParameters(permission, credential)
          : generateBlobSASQueryParameters(permission, await delegationKey(expires), accountName);
      const { url } = service.getContainerClient(container).getBlobClient(key);
      return `${url}?${query.toString()}`;
    },
  };
}
