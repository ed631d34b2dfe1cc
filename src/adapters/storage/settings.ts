import path from "node:path";
import { z } from "zod";
import { largestSourceBytes } from "./https-source.ts";
import type { Zone } from "./storage.ts";

const container = (zone: Zone) =>
  z
    .string()
    .regex(/^[a-z0-9](?:-?[a-z0-9]){2,62}$/, "must be the name of a container")
    .default(zone);

/** The settings of storage, the same in every program; each config spreads them into its own. */
export const storageEnvironment = {
  STORAGE_BACKEND: z.enum(["local", "azure"]).default("local"),
  AZURE_STORAGE_ACCOUNT: z.string().min(1).optional(),
  AZURE_STORAGE_CONNECTION_STRING: z.string().min(1).optional(),
  BRONZE_CONTAINER: container("bronze"),
  SILVER_CONTAINER: container("silver"),
  GOLD_CONTAINER: container("gold"),
  EXTERNAL_CONTAINER: container("external"),
  RESULTS_CONTAINER: container("results"),
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

/** For `refine`: Azure needs an account. */
export const namesItsAccount = [
  (given: Given) =>
    given.STORAGE_BACKEND === "local" ||
    (given.AZURE_STORAGE_ACCOUNT ?? given.AZURE_STORAGE_CONNECTION_STRING) !== undefined,
  {
    path: ["AZURE_STORAGE_ACCOUNT"] as string[],
    message: "must be set with STORAGE_BACKEND=azure, or AZURE_STORAGE_CONNECTION_STRING",
  },
] as const;

type Given = z.output<z.ZodObject<typeof storageEnvironment>>;

export interface StorageSettings {
  readonly backend: "local" | "azure";
  /** Of the local backend. */
  readonly folder: string;
  readonly publicUrl: string | undefined;
  readonly account: string | undefined;
  readonly connectionString: string | undefined;
  readonly containers: Readonly<Record<Zone, string>>;
}

/** Zones by the names of their containers. */
export function zonesByContainer({
  containers,
}: StorageSettings): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(containers).map(([zone, name]) => [name, zone]));
}

export function toStorageSettings(given: Given, dataFolder: string): StorageSettings {
  return {
    backend: given.STORAGE_BACKEND,
    folder: path.join(dataFolder, "storage"),
    publicUrl: given.RMHDAG_PUBLIC_URL,
    account: given.AZURE_STORAGE_ACCOUNT,
    connectionString: given.AZURE_STORAGE_CONNECTION_STRING,
    containers: {
      bronze: given.BRONZE_CONTAINER,
      silver: given.SILVER_CONTAINER,
      gold: given.GOLD_CONTAINER,
      external: given.EXTERNAL_CONTAINER,
      results: given.RESULTS_CONTAINER,
    },
  };
}
