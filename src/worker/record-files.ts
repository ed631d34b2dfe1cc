import { recordDeleted, recordFiles } from "../adapters/postgres/repositories/blob-assets.ts";
import type { Queryable } from "../adapters/postgres/queryable.ts";
import type { Storage } from "../adapters/storage/storage.ts";

interface Task {
  readonly job_id: string;
  readonly node_id: string;
}

/**
 * The storage of a task, which records the files that the task writes and deletes. So the platform
 * knows the files of a job that fails before it catalogues them. Large outputs of tasks are left
 * out: the job's rows name them.
 */
export function recordingStorage(storage: Storage, db: Queryable, task: Task): Storage {
  const isRecorded = (path: string) => !path.startsWith("results/");
  const recorded = async (path: string, bytes: number): Promise<void> => {
    if (isRecorded(path)) await recordFiles(db, [{ path, bytes }], task);
  };
  const own: Pick<Storage, "put" | "putFile" | "copy" | "delete"> = {
    async put(path, bytes, options) {
      await storage.put(path, bytes, options);
      await recorded(path, bytes.length);
    },
    async putFile(path, file, options) {
      const stored = await storage.putFile(path, file, options);
      await recorded(path, stored.bytes);
      return stored;
    },
    async copy(from, to) {
      const stored = await storage.copy(from, to);
      await recorded(to, stored.bytes);
      return stored;
    },
    async delete(path) {
      const deleted = await storage.delete(path);
      if (isRecorded(path)) await recordDeleted(db, path);
      return deleted;
    },
  };
  return new Proxy(storage, {
    get: (target, key) => {
      if (Object.hasOwn(own, key)) return own[key as keyof typeof own];
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
