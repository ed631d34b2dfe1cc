import type { TokenCredential } from "@azure/identity";
import type { BlobServiceClient, ContainerClient, UserDelegationKey } from "@azure/storage-blob";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/clock.ts";
import { StorageNotOpened } from "./storage-not-opened.ts";
import type { SignedMethod, Zone } from "./storage.ts";
import { zones } from "./storage.ts";

/** Where a zone is: its container, and the account with its identity. */
export interface AzurePlace {
  readonly container: string;
  readonly account?: string | undefined;
  /** Of the managed identity, where the machine has several. */
  readonly clientId?: string | undefined;
  /** For an emulator, or where machines have no identity. */
  readonly connectionString?: string | undefined;
  /** Another URL than that of the account, with its credential. */
  readonly endpoint?: { readonly url: string; readonly credential: TokenCredential } | undefined;
}

export interface AzureSettings {
  readonly places: Readonly<Record<Zone, AzurePlace>>;
}

export interface AzureZone {
  readonly container: ContainerClient;
  /** Gives a URL that can read, or put, this one blob for `seconds`. */
  sign(key: string, seconds: number, method?: SignedMethod): Promise<string>;
}

const options = { retryOptions: { maxTries: 5 } };

/** Zones of one account share its client and its signing key. */
export async function openAzure({
  places,
}: AzureSettings): Promise<Readonly<Record<Zone, AzureZone>>> {
  const accounts = new Map<string, { service: BlobServiceClient; signer: AzureSigner }>();
  const opened: [Zone, AzureZone][] = [];
  for (const zone of zones) {
    const { container: name, ...place } = places[zone];
    const account = JSON.stringify([
      place.account,
      place.clientId,
      place.connectionString,
      place.endpoint?.url,
    ]);
    const found = accounts.get(account) ?? (await openAccount(place));
    accounts.set(account, found);
    const container = found.service.getContainerClient(name);
    opened.push([
      zone,
      { container, sign: (key, ...more) => found.signer.sign({ container: name, key }, ...more) },
    ]);
  }
  await Promise.all(
    opened.map(([, { container }]) =>
      container.createIfNotExists().catch((error: unknown) => {
        // An identity that may not create containers uses those that exist.
        if ((error as { statusCode?: number }).statusCode === 403) return;
        throw new StorageNotOpened(container.url, error);
      }),
    ),
  );
  return Object.fromEntries(opened) as Record<Zone, AzureZone>;
}

/** Loads the packages of Azure, which are large, at the first use. */
async function openAccount(place: Omit<AzurePlace, "container">) {
  const { BlobServiceClient: Client } = await import("@azure/storage-blob");
  const { account, clientId, connectionString, endpoint } = place;
  const service =
    endpoint !== undefined
      ? new Client(endpoint.url, endpoint.credential, options)
      : connectionString !== undefined
        ? Client.fromConnectionString(connectionString, options)
        : new Client(addressOf(account ?? ""), await identity(clientId), options);
  return { service, signer: createAzureSigner(service) };
}

/** An account's name, or the whole address of its blobs: a private endpoint, another cloud. */
function addressOf(account: string): string {
  return account.includes("://") ? account : `https://${account}.blob.core.windows.net`;
}

async function identity(clientId: string | undefined): Promise<TokenCredential> {
  const { DefaultAzureCredential } = await import("@azure/identity");
  return new DefaultAzureCredential(
    clientId === undefined ? {} : { managedIdentityClientId: clientId },
  );
}

interface AzureSigner {
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
function createAzureSigner(service: BlobServiceClient, clock: Clock = systemClock): AzureSigner {
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
