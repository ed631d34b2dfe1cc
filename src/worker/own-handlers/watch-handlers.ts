import type { Logger } from "../../adapters/runtime/logger.ts";
import { createService } from "../../adapters/runtime/service.ts";
import { watchFolders } from "../../adapters/workflow-files/watch-folders.ts";
import type { Handler } from "../define-handler.ts";
import type { LoadOptions } from "./load-folder.ts";
import { loadHandlers, markOf } from "./load-folder.ts";

const pollMs = 5000;

/**
 * Loads the user's handlers, and again when a file changes. A task that runs meanwhile keeps the
 * function that it started with.
 */
export async function watchHandlers(
  options: LoadOptions & {
    readonly log: Logger;
    readonly onChange: (handlers: readonly Handler[]) => Promise<void>;
  },
): Promise<{ stop(): Promise<void> }> {
  const { log, folders } = options;
  let mark = "";

  async function load(): Promise<void> {
    const loaded = await loadHandlers(options);
    mark = loaded.mark;
    for (const { file, reason } of loaded.problems) {
      log.error({ file, reason }, `the handlers of ${file} cannot be loaded: ${reason}`);
    }
    const names = loaded.handlers.map(({ contract }) => contract.name);
    log.info({ handlers: names }, "loaded handlers");
    await options.onChange(loaded.handlers);
  }

  await load();
  const service = createService({
    name: "handler files",
    log,
    intervalMs: pollMs,
    runOnce: async () => {
      watch.renew();
      if ((await markOf(folders)) !== mark) await load();
    },
  });
  const watch = watchFolders(folders, () => {
    service.wake();
  });
  service.start();
  return {
    stop: async () => {
      watch.close();
      await service.stop();
    },
  };
}
