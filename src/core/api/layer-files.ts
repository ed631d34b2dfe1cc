import { z } from "zod";
import { jobStatus } from "../model/job.ts";
import { exportFormatNames, highestZoom } from "../vector/export-formats.ts";
import { oneVersion } from "./asset-parts.ts";
import { defineContract } from "./contract.ts";

export const fileFormats = [...exportFormatNames, "cog"] as const;

const writeFiles = defineContract({
  id: "writeFiles",
  method: "POST",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/files",
  access: "operate",
  summary: "Write the data of a version in one format, for a download. A job does it.",
  params: oneVersion,
  body: z
    .strictObject({ format: z.enum(fileFormats), max_zoom: highestZoom.optional() })
    .refine(({ format, max_zoom }) => max_zoom === undefined || format === "pmtiles", {
      path: ["max_zoom"],
      message: "is for the format pmtiles only",
    }),
  status: 202,
  response: z.object({ job_id: z.string(), status: jobStatus }).meta({ id: "FilesAccepted" }),
  errors: [
    "BAD_REQUEST",
    "ASSET_NOT_FOUND",
    "VERSION_NOT_FOUND",
    "TRANSITION_REFUSED",
    "WORKFLOW_NOT_FOUND",
    "INVALID_INPUTS",
  ],
});

const getFiles = defineContract({
  id: "getFiles",
  method: "GET",
  path: "/api/v1/assets/{asset_id}/versions/{version_ordinal}/files/{job_id}",
  access: "operate",
  summary: "The files that such a job wrote, with addresses that are valid for an hour.",
  params: oneVersion.extend({ job_id: z.string().min(1).max(64) }),
  response: z
    .object({
      status: jobStatus,
      error: z.string().nullable(),
      files: z.array(z.object({ path: z.string(), bytes: z.number(), url: z.string() })),
    })
    .meta({ id: "LayerFiles" }),
  errors: ["BAD_REQUEST", "JOB_NOT_FOUND"],
});

export const layerFileContracts = [writeFiles, getFiles] as const;
