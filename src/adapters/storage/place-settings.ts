/** Where each zone is: in which account, on which server, with which identity. */
import { z } from "zod";
import type { AzurePlace } from "./azure-client.ts";
import type { S3Place } from "./s3-client.ts";
import type { Zone } from "./storage.ts";
import { zones } from "./storage.ts";

const container = (zone: Zone) =>
  z
    .string()
    .regex(/^[a-z0-9](?:[.-]?[a-z0-9]){2,62}$/, "must be the name of a container or bucket")
    .default(zone);

const text = z.string().min(1).optional();
const address = z.url({ protocol: /^https?$/ }).optional();

/** The same variable with a zone's name before it, `BRONZE_AWS_REGION`, counts for that zone. */
const placeVariables = {
  AZURE_STORAGE_ACCOUNT: text,
  AZURE_STORAGE_CONNECTION_STRING: text,
  AZURE_CLIENT_ID: text,
  AWS_ENDPOINT_URL_S3: address,
  AWS_REGION: text,
  AWS_PROFILE: text,
  AWS_ACCESS_KEY_ID: text,
  AWS_SECRET_ACCESS_KEY: text,
};
type PlaceVariable = keyof typeof placeVariables;
type OfZones = {
  [Name in PlaceVariable as `${Uppercase<Zone>}_${Name}`]: (typeof placeVariables)[Name];
};

export const placeEnvironment = {
  STORAGE_BACKEND: z.enum(["local", "azure", "s3"]).default("local"),
  ...placeVariables,
  ...(Object.fromEntries(
    zones.flatMap((zone) =>
      Object.entries(placeVariables).map(([name, value]) => [`${upper(zone)}_${name}`, value]),
    ),
  ) as OfZones),
  AWS_DEFAULT_REGION: text,
  AWS_ENDPOINT_URL: address,
  S3_FORCE_PATH_STYLE: z.enum(["true", "false"]).optional(),
  BRONZE_CONTAINER: container("bronze"),
  SILVER_CONTAINER: container("silver"),
  GOLD_CONTAINER: container("gold"),
  EXTERNAL_CONTAINER: container("external"),
  RESULTS_CONTAINER: container("results"),
};

type Given = z.output<z.ZodObject<typeof placeEnvironment>>;

/** For `refine`: Azure needs an account for every zone, and S3 a region or an endpoint. */
export const namesItsAccount = [
  (given: Given) =>
    given.STORAGE_BACKEND === "local" || zones.every((zone) => isPlaced(given, zone)),
  {
    path: ["STORAGE_BACKEND"] as string[],
    message:
      "needs for every zone, with azure: AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING; " +
      "with s3: AWS_REGION, AWS_PROFILE or AWS_ENDPOINT_URL_S3",
  },
] as const;

function isPlaced(given: Given, zone: Zone): boolean {
  if (given.STORAGE_BACKEND === "azure") {
    const { account, connectionString } = toAzurePlace(given, zone);
    return (account ?? connectionString) !== undefined;
  }
  const { region, profile, endpoint } = toS3Place(given, zone);
  return (region ?? profile ?? endpoint ?? given.AWS_PROFILE) !== undefined;
}

export function toPlaces<Place>(
  given: Given,
  toPlace: (given: Given, zone: Zone) => Place,
): Readonly<Record<Zone, Place>> {
  return Object.fromEntries(zones.map((zone) => [zone, toPlace(given, zone)])) as Record<
    Zone,
    Place
  >;
}

/** An account of the zone's own counts before every setting of all zones. */
export function toAzurePlace(given: Given, zone: Zone): AzurePlace {
  const own = readOwn(given, zone);
  const account = own("AZURE_STORAGE_ACCOUNT");
  const connectionString = own("AZURE_STORAGE_CONNECTION_STRING");
  const hasOwn = (account ?? connectionString) !== undefined;
  return {
    container: containerOf(given, zone),
    account: hasOwn ? account : given.AZURE_STORAGE_ACCOUNT,
    connectionString: hasOwn ? connectionString : given.AZURE_STORAGE_CONNECTION_STRING,
    clientId: own("AZURE_CLIENT_ID") ?? given.AZURE_CLIENT_ID,
  };
}

export function toS3Place(given: Given, zone: Zone): S3Place {
  const own = readOwn(given, zone);
  const endpoint =
    own("AWS_ENDPOINT_URL_S3") ?? given.AWS_ENDPOINT_URL_S3 ?? given.AWS_ENDPOINT_URL;
  const [id, secret] = [own("AWS_ACCESS_KEY_ID"), own("AWS_SECRET_ACCESS_KEY")];
  return {
    bucket: containerOf(given, zone),
    endpoint,
    region: own("AWS_REGION") ?? given.AWS_REGION ?? given.AWS_DEFAULT_REGION,
    // Few servers of others answer to the names of buckets as hosts.
    pathStyle: (given.S3_FORCE_PATH_STYLE ?? String(endpoint !== undefined)) === "true",
    profile: own("AWS_PROFILE"),
    keys: id === undefined || secret === undefined ? undefined : { id, secret },
  };
}

/** Zones whose containers have the same name, in two accounts, are known by their own names only. */
export function zonesByContainer(given: Given): Readonly<Record<string, string>> {
  const named = zones.map((zone): [string, Zone] => [containerOf(given, zone), zone]);
  const names = named.map(([name]) => name);
  const isUnique = (name: string) => names.indexOf(name) === names.lastIndexOf(name);
  return Object.fromEntries(named.filter(([name]) => isUnique(name)));
}

function readOwn(given: Given, zone: Zone): (name: PlaceVariable) => string | undefined {
  return (name) => given[`${upper(zone)}_${name}`];
}

function containerOf(given: Given, zone: Zone): string {
  return given[`${upper(zone)}_CONTAINER`];
}

function upper<Name extends string>(name: Name): Uppercase<Name> {
  return name.toUpperCase() as Uppercase<Name>;
}
