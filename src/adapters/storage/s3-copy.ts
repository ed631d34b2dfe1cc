import type { S3Client } from "@aws-sdk/client-s3";

interface ObjectAt {
  readonly Bucket: string;
  readonly Key: string;
}

const gibibyte = 1024 ** 3;
/** A larger object cannot be copied with one request. */
export const largestCopy = 5 * gibibyte;

export function toCopySource({ Bucket, Key }: ObjectAt): string {
  return [Bucket, ...Key.split("/")].map(encodeURIComponent).join("/");
}

/** Copies on the server, one part after the other; the object appears with the last one. */
export async function copyInParts(
  client: S3Client,
  from: ObjectAt,
  to: ObjectAt,
  bytes: number,
  partBytes = gibibyte,
): Promise<void> {
  const sdk = await import("@aws-sdk/client-s3");
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ ...to }));
  const upload = { ...to, UploadId };
  try {
    const Parts: { PartNumber: number; ETag: string }[] = [];
    for (let at = 0; at < bytes; at += partBytes) {
      const PartNumber: number = Parts.length + 1;
      const end = Math.min(at + partBytes, bytes) - 1;
      const { CopyPartResult } = await client.send(
        new sdk.UploadPartCopyCommand({
          ...upload,
          PartNumber,
          CopySource: toCopySource(from),
          CopySourceRange: `bytes=${at}-${end}`,
        }),
      );
      Parts.push({ PartNumber, ETag: CopyPartResult?.ETag ?? "" });
    }
    await client.send(
      new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }),
    );
  } catch (error) {
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}
