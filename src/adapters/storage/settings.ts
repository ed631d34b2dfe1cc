import path from "node:path";
import { z } from "zod";
import type { AzureSettings } from "./azure-client.ts";
import { largestSourceBytes } from "./https-source.ts";
import {
  placeEnvironment,
  toAzurePlace,
  toPlaces,
  toS3Place,
  zonesByContainer,
} from "./place-settings.ts";
import type { S3Settings } from "./s3-client.ts";

export { namesItsAccount } from "./place-settings.ts";

/** The settings of storage, the same in every program; each config spreads them into its own. */
export const storageEnvironment = {
  ...placeEnvironment,
  RMHDAG_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
};

/** Separated by commas; duplicates are removed. */
const list = z
  .string()
  .default("")
  .transform((text) => [...new Set(text.split(",").map((part) => part.trim()))])
  .transform((parts) => parts.filter((part) => part !== ""));

/** Where sources may come from besides storage; read by workers and checked at submission. */
export const sourceEnvironment = {
  RMHDAG_SOURCE_HOSTS: list,
  RMHDAG_SOURCE_MOUNTS: list,
  RMHDAG_SOURCE_PRIVATE_NETWORKS: list.pipe(z.array(z.union([z.cidrv4(), z.cidrv6()]))),
  RMHDAG_SOURCE_MAX_BYTES: z.coerce.number().int().positive().default(largestSourceBytes),
};

export interface SourceEnvironment {
  readonly hosts: readonly string[];
  readonly mounts: readonly string[];
  readonly privateNetworks: readonly string[];
  /** The largest file that is fetched from a web server. */
  readonly maxBytes: number;
}

export function toSourceEnvironment(
  given: z.output<z.ZodObject<typeof sourceEnvironment>>,
): SourceEnvironment {
  return {
    hosts: given.RMHDAG_SOURCE_HOSTS,
    mounts: given.RMHDAG_SOURCE_MOUNTS,
    privateNetworks: given.RMHDAG_SOURCE_PRIVATE_NETWORKS,
    maxBytes: given.RMHDAG_SOURCE_MAX_BYTES,
  };
}

type Given = z.output<z.ZodObject<typeof storageEnvironment>>;

export type StorageSettings = {
  /** Of the local backend. */
  readonly folder: string;
  readonly publicUrl: string | undefined;
  /** The zones by the names of their containers. */
  readonly zonesByContainer: Readonly<Record<string, string>>;
} & (
  | { readonly backend: "local" }
  | ({ readonly backend: "azure" } & AzureSettings)
  | ({ readonly backend: "s3" } & S3Settings)
);

export function toStorageSettings(given: Given, dataFolder: string): StorageSettings {
  const backend = given.STORAGE_BACKEND;
  const shared = {
    folder: path.join(dataFolder, "storage"),
    publicUrl: given.RMHDAG_PUBLIC_URL,
    zonesByContainer: zonesByContainer(given),
  };
  switch (backend) {
    case "azure":
      return { ...shared, backend, places: toPlaces(given, toAzurePlace) };
    case "s3":
      return { ...shared, backend, places: toPlaces(given, toS3Place) };
    default:
      return { ...shared, backend };
  }
}
