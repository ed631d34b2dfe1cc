import path from "node:path";

const folder = path.resolve(import.meta.dirname, "../fixtures");

/** The path of a file below test/fixtures; its README says where each comes from. */
export function fixture(name: string): string {
  return path.join(folder, name);
}
