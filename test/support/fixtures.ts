import { existsSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "../..");
const places = [
  process.env["RMHDAG_FIXTURES"],
  path.join(root, "../shared/fixtures"),
  path.join(root, "../../shared/fixtures"),
];

/** Files of others that the project does not contain; undefined where they are absent. */
export const fixtures: string | undefined = places.find(
  (place) => place !== undefined && existsSync(path.join(place, "README.md")),
);

export function fixture(name: string): string {
  if (fixtures === undefined) throw new Error("the fixtures are not here");
  return path.join(fixtures, name);
}
