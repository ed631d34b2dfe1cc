import { randomBytes } from "node:crypto";
import path from "node:path";
import type { HandlerContext } from "../../define-handler.ts";

/**
 * A name that was never used in the task's folder. The WebAssembly engine keeps what it knows of a
 * name between runs: a file that was removed and made anew is not the one that it sees.
 */
export function temporaryFile({ workDir }: HandlerContext, name: string): string {
  const { name: stem, ext } = path.parse(name);
  return path.join(workDir, `${stem}_${randomBytes(4).toString("hex")}${ext}`);
}
