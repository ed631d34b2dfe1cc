import { readFileSync } from "node:fs";

/** The version in package.json, three folders up from this file in src/ and in dist/. */
export const version = (
  JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
    version: string;
  }
).version;
