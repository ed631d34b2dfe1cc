import type { BlobServiceClient, UserDelegationKey } from "@azure/storage-blob";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/clock.ts";

export interface AzureSigner {
  /** To read this one blob, for so many seconds. */
  sign(at: { container: string; key: string }, seconds: number): Promise<string>;
}

/** Clocks of machines differ: what begins now has begun a little earlier. */
const earlierMs = 15 * 60 * 1000;
const keyMs = 2 * 60 * 60 * 1000;

/**
 * Signs with a key that the service lends to our identity for two hours (a user delegation), or with
 * the account's own key where a connection string has brought one.
 */
export function createAzureSigner(
  service: BlobServiceClient,
  clock: Clock = systemClock,
): AzureSigner {
  let lent: { key: UserDelegationKey; until: number } | undefined;

  async function borrow(until: number): Promise<UserDelegationKey> {
    if (lent !== undefined && lent.until >= until) return lent.key;
    const now = clock.now().getTime();
    const end = Math.max(until, now + keyMs);
    const key = await service.getUserDelegationKey(new Date(now - earlierMs), new Date(end));
    lent = { key, until: end };
    return key;
  }

  return {
    sign: async ({ container, key }, seconds) => {
      const { BlobSASPermissions, StorageSharedKeyCredential, generateBlobSASQueryParameters } =
        await import("@azure/storage-blob");
      const now = clock.now().getTime();
      const expires = now + seconds * 1000;
      const isLocal = service.url.startsWith("http:");
      const permission = {
        containerName: container,
        blobName: key,
        permissions: BlobSASPermissions.parse("r"),
        startsOn: new Date(now - earlierMs),
        expiresOn: new Date(expires),
        ...(isLocal ? {} : { protocol: "https" as never }),
      };
      const { credential, accountName } = service;
      const query =
        credential instanceof StorageSharedKeyCredential
          ? generateBlobSASQueryParameters(permission, credential)
          : generateBlobSASQueryParameters(permission, await borrow(expires), accountName);
      const { url } = service.getContainerClient(container).getBlobClient(key);
      return `${url}?${query.toString()}`;
    },
  };
}
