import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Holds everything that a run writes; it is removed when the process ends, unless it was `given`. */
export function makeWorkFolder(given) {
  if (given !== undefined) mkdirSync(given, { recursive: true });
  const folder = given ?? mkdtempSync(path.join(tmpdir(), "rmhdag-bench-"));
  // As root the server runs as another user, who must be able to enter.
  chmodSync(folder, 0o755);
  if (given !== undefined) return folder;
  process.once("exit", () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  return folder;
}
