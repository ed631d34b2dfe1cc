import { existsSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
<<<<<<< HEAD
const places = [
  process.env["RMHDAG_FIXTURES"],
  path.join(root, "../shared/fixtures"),
  path.join(root, "../../shared/fixtures"),
];

/** Files of others that the project does not contain; undefined where they are absent. */
export const fixtures: string | undefined = places.find(
  (place) => place !== undefined && existsSync(path.join(place, "README.md")),
);
=======

/** Real files from public projects, which the project itself does not contain. */
export const fixtures = [
  process.env["RMHDAG_FIXTURES"],
  path.join(root, "../shared/fixtures"),
  path.join(root, "../../shared/fixtures"),
].find((folder) => folder !== undefined && existsSync(path.join(folder, "README.md")));

export function fixture(name: string): string {
  if (fixtures === undefined) throw new Error("the fixtures are not here");
  return path.join(fixtures, name);
}
>>>>>>> 8f2c29f (Judge, convert, cut and merge rasters, and check every file before it is published)
