import { describe, expect, it } from "vitest";
import { describeProcess, readExecution, toStatusInfo } from "./ogc-process.ts";

describe("a workflow as a process", () => {
  const process = describeProcess(
    {
      workflow_id: "raster_ingest",
      version: "1",
      name: null,
      description: "Makes a COG.",
      inputs: {
        blob_path: { type: "string", required: true, description: "where it is" },
        level: { type: "integer", required: false, default: 3, minimum: 1, maximum: 9 },
      },
      outputs: { item: "{{ x }}" },
    },
    "/api/ogc",
  );

  it("has an input with a schema for each of the workflow's, and those of a submission", () => {
    expect(process.title).toBe("raster_ingest");
    expect(process.inputs).toMatchObject({
      blob_path: { title: "where it is", schema: { type: "string" }, minOccurs: 1 },
      level: { schema: { type: "integer", default: 3, minimum: 1, maximum: 9 }, minOccurs: 0 },
      platform_refs: { minOccurs: 1 },
      version_label: { minOccurs: 0 },
    });
    expect(process.outputs).toEqual({ item: { title: "item", schema: {} } });
  });

  it("says where it is executed", () => {
    expect(process.links.map(({ href }) => href)).toContain(
      "/api/ogc/processes/raster_ingest/execution",
    );
  });
});

describe("an execution", () => {
  it("is a submission, with values plain or qualified", () => {
    const given = {
      platform_refs: { value: { dataset_id: "a" } },
      version_label: "V1",
      blob_path: "bronze/a.tif",
      level: { value: 2, mediaType: "application/json" },
      options: { value: 1, other: 2 },
    };
    expect(readExecution(given)).toEqual({
      platform_refs: { dataset_id: "a" },
      version_label: "V1",
      inputs: { blob_path: "bronze/a.tif", level: 2, options: { value: 1, other: 2 } },
    });
  });
});

describe("a request as a job", () => {
  const request = {
    request_id: "r1",
    workflow_id: "w",
    status: "pending",
    percent: 0,
    error: null,
    submitted_at: "2026-01-01T00:00:00.000Z",
    completed_at: null,
  } as const;

  it.each([
    ["pending", "accepted"],
    ["running", "running"],
    ["completed", "successful"],
    ["failed", "failed"],
    ["cancelled", "dismissed"],
  ] as const)("is %s here and %s there", (status, shown) => {
    expect(toStatusInfo({ ...request, status }, "/api/ogc").status).toBe(shown);
  });

  it("links to its results only when there are any", () => {
    const links = (status: "running" | "completed") =>
      toStatusInfo({ ...request, status }, "/api/ogc").links.map(({ href }) => href);
    expect(links("running")).toEqual(["/api/ogc/jobs/r1"]);
    expect(links("completed")).toEqual(["/api/ogc/jobs/r1", "/api/ogc/jobs/r1/results"]);
  });

  it("says why it failed", () => {
    const error = { code: "X", message: "no such band" };
    expect(toStatusInfo({ ...request, status: "failed", error }, "").message).toBe("no such band");
  });
});
