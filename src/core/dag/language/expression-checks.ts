import type { Json } from "../../model/json.ts";
import { isList } from "./expression-scope.ts";

/** What may follow `is`, besides `defined` and `undefined`. */
export const checks: ReadonlyMap<string, (value: Json) => boolean> = new Map([
  ["none", (value: Json) => value === null],
  ["null", (value: Json) => value === null],
  ["true", (value: Json) => value === true],
  ["false", (value: Json) => value === false],
  ["boolean", (value: Json) => typeof value === "boolean"],
  ["string", (value: Json) => typeof value === "string"],
  ["number", (value: Json) => typeof value === "number"],
  ["integer", (value: Json) => Number.isInteger(value)],
  ["float", (value: Json) => typeof value === "number" && !Number.isInteger(value)],
  ["mapping", (value: Json) => typeof value === "object" && value !== null && !isList(value)],
]);
