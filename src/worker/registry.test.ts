import { expect, it } from "vitest";
import { handlerAliases } from "../core/handlers/aliases.ts";
import { handlerCatalogue } from "../core/handlers/index.ts";
import { handlers, loaders } from "./registry.ts";

it("has each handler of the catalogue, and no other", () => {
  expect([...handlers.keys()].toSorted()).toEqual([...handlerCatalogue.keys()].toSorted());
  const names = new Set([...handlerCatalogue.values()].map(({ name }) => name));
  expect(Object.keys(loaders).toSorted()).toEqual([...names].toSorted());
});

it("knows each other name of a handler", () => {
  for (const [alias, name] of Object.entries(handlerAliases)) {
    expect([alias, handlerCatalogue.get(alias)?.name]).toEqual([alias, name]);
  }
});

it("loads for each name the handler of that name", async () => {
  for (const [name, load] of Object.entries(loaders)) {
    expect((await load()).contract.name).toBe(name);
  }
});
