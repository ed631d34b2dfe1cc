import { readdirSync, readlinkSync } from "node:fs";

/** The ids of the processes whose working folder this is. */
export function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false;
    }
  });
}
