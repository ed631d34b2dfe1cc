import type { S3Client } from "@aws-sdk/client-s3";
import { statusOf } from "./s3-errors.ts";
import { StorageNotOpened } from "./storage-not-opened.ts";
import type { Zone } from "./storage.ts";
import { zones } from "./storage.ts";

/** Where a zone is: its bucket, and what differs from the standard variables of AWS. */
export interface S3Place {
  readonly bucket: string;
  /** Of another server than that of AWS. */
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  /** The bucket as the first part of the path instead of the host's name. */
  readonly pathStyle: boolean;
  /** Without it the SDK looks for an identity: variables, profile, container, machine. */
  readonly keys?: { readonly id: string; readonly secret: string } | undefined;
  readonly profile?: string | undefined;
}

export interface S3Settings {
  readonly places: Readonly<Record<Zone, S3Place>>;
}

export interface S3Zone {
  readonly client: S3Client;
  readonly bucket: string;
}

/** Loads the packages of AWS, which are large, at the first use. */
export async function openS3({ places }: S3Settings): Promise<Readonly<Record<Zone, S3Zone>>> {
  const { S3Client: Client } = await import("@aws-sdk/client-s3");
  const clients = new Map<string, S3Client>();
  const clientOf = ({ bucket: _, ...place }: S3Place): S3Client => {
    const name = JSON.stringify(place);
    const client = clients.get(name) ?? new Client(toClientConfig(place));
    clients.set(name, client);
    return client;
  };
  const opened = zones.map((zone): [Zone, S3Zone] => [
    zone,
    { client: clientOf(places[zone]), bucket: places[zone].bucket },
  ]);
  await Promise.all(
    opened.map(([name, zone]) =>
      makeBucket(zone).catch((error: unknown) => {
        const server = places[name].endpoint ?? "AWS";
        throw new StorageNotOpened(`the bucket ${zone.bucket} of ${server}`, error);
      }),
    ),
  );
  return Object.fromEntries(opened) as Record<Zone, S3Zone>;
}

function toClientConfig({ endpoint, region, pathStyle, keys, profile }: Omit<S3Place, "bucket">) {
  return {
    maxAttempts: 5,
    forcePathStyle: pathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    // Servers other than that of AWS have no regions, and the signature needs one.
    ...(region !== undefined ? { region } : endpoint === undefined ? {} : { region: "us-east-1" }),
    ...(profile === undefined ? {} : { profile }),
    ...(keys === undefined
      ? {}
      : { credentials: { accessKeyId: keys.id, secretAccessKey: keys.secret } }),
    // The checksums that the SDK adds by itself are refused by older servers of others.
    requestChecksumCalculation: "WHEN_REQUIRED" as const,
    responseChecksumValidation: "WHEN_REQUIRED" as const,
  };
}

async function makeBucket({ client, bucket }: S3Zone): Promise<void> {
  const { CreateBucketCommand, HeadBucketCommand } = await import("@aws-sdk/client-s3");
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }));
  } catch (error) {
    // An identity that may not see the bucket itself may still use its objects.
    if (statusOf(error) === 403) return;
    if (statusOf(error) !== 404) throw error;
    await client.send(new CreateBucketCommand({ Bucket: bucket })).catch(ignoreMade);
  }
}

/** Programs that start together make the same buckets. */
function ignoreMade(error: unknown): void {
  if (statusOf(error) !== 409) throw error;
}
