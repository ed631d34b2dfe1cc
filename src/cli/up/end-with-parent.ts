/**
 * Loaded into the programs that are started here, before their own first line: when this process is
 * gone, they stop as if it had asked them to. So they need not know that they have a parent.
 */
import { isMainThread } from "node:worker_threads";
import { stopWithParent } from "../../adapters/runtime/parent.ts";

// Threads inherit what is loaded first; they end with their program.
if (isMainThread) stopWithParent(() => process.kill(process.pid, "SIGTERM"));
