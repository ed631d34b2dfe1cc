import { expect, it } from "vitest";
import { handlerCatalogue } from "../core/handlers.ts";
import { handlers, notImplemented } from "./registry.ts";

it("has each handler of the catalogue either implemented or listed as missing, and no other", () => {
  const known = [...handlers.keys(), ...notImplemented];
  expect(known.toSorted()).toEqual([...handlerCatalogue.keys()].toSorted());
});
