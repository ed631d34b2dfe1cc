import { Readable } from "node:stream";
import type { S3Settings } from "./s3-client.ts";
import { openS3 } from "./s3-client.ts";
import { uploadStream } from "./s3-upload.ts";
import type { Staging } from "./staging.ts";
import { BodyTooLong, piecesOf } from "./staging.ts";
import type { Storage, StoredObject } from "./storage.ts";
import { splitPath } from "./storage.ts";

/** A piece of an upload. Every write of a client ends one, so that its bytes survive a crash. */
const pieceBytes = 8 * 1024 * 1024;

/**
 * Stages uploads as objects among the results, `.uploads/ID/OFFSET`. A multipart upload of S3 cannot
 * hold them: its parts have at least 5 MiB, and a client may send fewer bytes and go away for a day.
 */
export async function createS3Staging(settings: S3Settings, storage: Storage): Promise<Staging> {
  const opened = await openS3(settings);
  const folderOf = (id: string) => `results/.uploads/${id}/`;
  const pieceAt = (id: string, offset: number) =>
    `${folderOf(id)}${String(offset).padStart(18, "0")}`;
  const offsetOf = (piece: StoredObject) => Number(piece.path.slice(-18));

  async function findPieces(id: string): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    let cursor: string | undefined;
    do {
      const page = await storage.list(folderOf(id), { cursor });
      found.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return found;
  }

  async function removePieces(pieces: readonly StoredObject[]): Promise<void> {
    for (const { path } of pieces) await storage.delete(path);
  }

  /** The pieces that follow each other up to the length. Undefined: some are missing. */
  async function findWhole(id: string, length: number): Promise<StoredObject[] | undefined> {
    const pieces = new Map((await findPieces(id)).map((piece) => [offsetOf(piece), piece]));
    const whole: StoredObject[] = [];
    for (let at = 0; at < length;) {
      const piece = pieces.get(at);
      if (piece === undefined || piece.bytes === 0) return undefined;
      whole.push(piece);
      at += piece.bytes;
    }
    return whole;
  }

  const read = (pieces: readonly StoredObject[]): Readable =>
    Readable.from(
      (async function* () {
        for (const { path } of pieces) yield* (await storage.stream(path)).body;
      })(),
      { objectMode: false },
    );

  return {
    write: async (id, offset, body, { limit, onBytes, onDurable }) => {
      let staged = 0;
      let waiting: Buffer[] = [];
      let waitingBytes = 0;
      const stage = async () => {
        if (waitingBytes === 0) return;
        await storage.put(pieceAt(id, offset + staged), Buffer.concat(waiting));
        staged += waitingBytes;
        waiting = [];
        waitingBytes = 0;
      };
      try {
        const later = await findPieces(id);
        await removePieces(later.filter((piece) => offsetOf(piece) >= offset));
        for await (const chunk of piecesOf(body)) {
          if (staged + waitingBytes + chunk.length > limit) throw new BodyTooLong();
          onBytes(chunk);
          waiting.push(chunk);
          waitingBytes += chunk.length;
          if (waitingBytes < pieceBytes) continue;
          await stage();
          await onDurable(staged);
        }
        await stage();
        return { bytes: staged };
      } catch (error) {
        await stage().catch(() => undefined);
        return { bytes: staged, error };
      }
    },

    read: async (id, length) => read((await findWhole(id, length)) ?? []),

    publish: async (id, path, length) => {
      const pieces = await findWhole(id, length);
      if (pieces === undefined) return undefined;
      const [zone, ...parts] = splitPath(path);
      await uploadStream(opened[zone], parts.join("/"), read(pieces), length);
      await removePieces(await findPieces(id));
      return storage.head(path);
    },

    remove: async (id) => {
      await removePieces(await findPieces(id));
    },
  };
}
