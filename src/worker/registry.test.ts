import { expect, it } from "vitest";
import { handlerCatalogue } from "../core/handlers.ts";
import { handlers } from "./registry.ts";

it("has each handler of the catalogue, and no other", () => {
  expect([...handlers.keys()].toSorted()).toEqual([...handlerCatalogue.keys()].toSorted());
});
