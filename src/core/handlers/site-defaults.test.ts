import { expect, it } from "vitest";
import { handlerCatalogue } from "./index.ts";
import { siteDefaultProblems, withSiteDefaults } from "./site-defaults.ts";

const queues = new Set(["functionapp-tasks", "container-tasks", "night-tasks"]);

it("replaces queues and timeouts of handlers, a handler's own before its queue's", () => {
  const made = withSiteDefaults(handlerCatalogue, {
    routing: new Map([["raster.validate", "night-tasks"]]),
    timeouts: new Map([
      ["night-tasks", 99],
      ["raster.create_cog", 7200],
    ]),
  });
  expect(made.get("raster.validate")).toMatchObject({ queue: "night-tasks", timeout_seconds: 99 });
  // Also by another name of it.
  expect(made.get("raster_validate")).toMatchObject({ queue: "night-tasks" });
  expect(made.get("raster.create_cog")).toMatchObject({ timeout_seconds: 7200 });
  expect(made.get("echo")).toEqual(handlerCatalogue.get("echo"));
});

it("names what is not known", () => {
  const given = {
    routing: new Map([["raster.validat", "nowhere"]]),
    timeouts: new Map([["nothing", 5]]),
  };
  expect(siteDefaultProblems(handlerCatalogue, queues, given)).toEqual([
    'TASK_ROUTING names "raster.validat", which is no handler',
    'TASK_ROUTING names "nowhere", which is no declared queue',
    'TASK_TIMEOUTS names "nothing", which is no handler and no declared queue',
  ]);
});
