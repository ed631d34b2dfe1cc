import type { FSWatcher } from "node:fs";
import { statSync, watch } from "node:fs";
import path from "node:path";

/** An editor writes a file in several steps: a change is reported once the folder has been quiet for so long. */
const quietMs = 100;

export interface FolderWatch {
  /** Watches folders that did not exist, or were replaced, when the watch began. */
  renew(): void;
  close(): void;
}

/**
 * Calls `onChange` soon after a file in one of these folders changes. The system may refuse to watch
 * (too many watches, a network drive), so the caller must look from time to time as well.
 */
export function watchFolders(paths: readonly string[], onChange: () => void): FolderWatch {
  const watchers = new Map<string, { watcher: FSWatcher; inode: bigint }>();
  let timer: NodeJS.Timeout | undefined;

  function schedule(): void {
    clearTimeout(timer);
    timer = setTimeout(onChange, quietMs);
    timer.unref();
  }

  function drop(folder: string): void {
    watchers.get(folder)?.watcher.close();
    watchers.delete(folder);
  }

  function renew(): void {
    for (const given of paths) {
      try {
        const folder = statSync(given).isDirectory() ? given : path.dirname(given);
        const inode = statSync(folder, { bigint: true }).ino;
        if (watchers.get(folder)?.inode === inode) continue;
        drop(folder);
        const watcher = watch(folder, { persistent: false }, schedule);
        watcher.on("error", () => {
          drop(folder);
        });
        watchers.set(folder, { watcher, inode });
      } catch {
        // The folder does not exist or cannot be watched: the next `renew` tries again.
      }
    }
  }

  renew();
  return {
    renew,
    close() {
      clearTimeout(timer);
      for (const folder of watchers.keys()) drop(folder);
    },
  };
}
