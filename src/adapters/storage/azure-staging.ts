import type { BlockBlobClient } from "@azure/storage-blob";
import type { AzureSettings } from "./azure-client.ts";
import { openAzure } from "./azure-client.ts";
import type { Staging } from "./staging.ts";
import { BodyTooLong, piecesOf } from "./staging.ts";
import type { Storage } from "./storage.ts";
import { chunkBytes } from "./transfer.ts";

/**
 * Stages uploads as blocks of a blob among the results. Blocks are invisible until they are
 * committed; the service drops them after a week. A block is named by its offset.
 */
export async function createAzureStaging(
  settings: AzureSettings,
  storage: Storage,
): Promise<Staging> {
  const { results } = await openAzure(settings);
  const nameOf = (id: string) => `.uploads/${id}`;
  const blobOf = (id: string): BlockBlobClient => results.container.getBlockBlobClient(nameOf(id));

  /** Commits the blocks that follow each other up to the length. False: some are missing. */
  async function commit(id: string, length: number): Promise<boolean> {
    const blob = blobOf(id);
    if ((await storage.head(`results/${nameOf(id)}`))?.bytes === length) return true;
    const { uncommittedBlocks = [] } = await blob.getBlockList("uncommitted").catch(ignoreNone);
    const sizes = new Map(uncommittedBlocks.map(({ name, size }) => [name, size]));
    const names: string[] = [];
    let at = 0;
    while (at < length) {
      const name = blockName(at);
      const size = sizes.get(name);
      if (size === undefined) return false;
      names.push(name);
      at += size;
    }
    await blob.commitBlockList(names);
    return true;
  }

  return {
    write: async (id, offset, body, { limit, onBytes, onDurable }) => {
      const blob = blobOf(id);
      let staged = 0;
      let waiting: Buffer[] = [];
      let waitingBytes = 0;
      const stage = async () => {
        if (waitingBytes === 0) return;
        await blob.stageBlock(blockName(offset + staged), Buffer.concat(waiting), waitingBytes);
        staged += waitingBytes;
        waiting = [];
        waitingBytes = 0;
      };
      try {
        for await (const chunk of piecesOf(body)) {
          if (staged + waitingBytes + chunk.length > limit) throw new BodyTooLong();
          onBytes(chunk);
          waiting.push(chunk);
          waitingBytes += chunk.length;
          if (waitingBytes < chunkBytes) continue;
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

    read: async (id, length) => {
      await commit(id, length);
      return (await storage.stream(`results/${nameOf(id)}`)).body;
    },

    publish: async (id, path, length) => {
      if (!(await commit(id, length))) return undefined;
      const stored = await storage.copy(`results/${nameOf(id)}`, path);
      await storage.delete(`results/${nameOf(id)}`);
      return stored;
    },

    remove: async (id) => {
      await blobOf(id).deleteIfExists();
    },

    direct: {
      sign: (id) => storage.signedUrl(`results/${nameOf(id)}`, { method: "PUT" }),
      hasAll: commit,
    },
  };
}

/** All names of a blob's blocks have one length. */
function blockName(offset: number): string {
  return Buffer.from(String(offset).padStart(18, "0")).toString("base64");
}

function ignoreNone(error: unknown): { uncommittedBlocks?: undefined } {
  if ((error as { statusCode?: number }).statusCode === 404) return {};
  throw error;
}
