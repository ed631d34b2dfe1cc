/** OGC API – Processes, Part 1: submit, status and results again, for standard clients. */
import { z } from "zod";
import { requestId } from "../../model/request.ts";
import { defineContract, partnerBodyLimit } from "../contract.ts";
import { integer, json, object } from "../schemas.ts";
import { submissionErrors } from "./platform.ts";

const link = z.object({
  href: z.string(),
  rel: z.string(),
  type: z.string(),
  title: z.string().optional(),
});
const links = z.array(link);

const statusCode = z.enum(["accepted", "running", "successful", "failed", "dismissed"]);

const statusInfo = z
  .object({
    processID: z.string(),
    type: z.literal("process"),
    jobID: z.string().describe("the id of the request"),
    status: statusCode,
    message: z.string().optional(),
    created: z.string(),
    finished: z.string().optional(),
    progress: z.number(),
    links,
  })
  .meta({ id: "StatusInfo" });

const summary = {
  id: z.string(),
  version: z.string(),
  title: z.string(),
  description: z.string().optional(),
  jobControlOptions: z.array(z.string()),
  outputTransmission: z.array(z.string()),
  links,
};

const ogcLanding = defineContract({
  id: "ogcLanding",
  method: "GET",
  path: "/api/ogc",
  access: "public",
  summary: "The landing page: links to the parts of this API.",
  response: z.object({ title: z.string(), description: z.string(), links }),
  errors: ["INTERNAL"],
});

const ogcConformance = defineContract({
  id: "ogcConformance",
  method: "GET",
  path: "/api/ogc/conformance",
  access: "public",
  summary: "The conformance classes of the standard that this API keeps.",
  response: z.object({ conformsTo: z.array(z.string()) }),
  errors: ["INTERNAL"],
});

const ogcProcesses = defineContract({
  id: "ogcProcesses",
  method: "GET",
  path: "/api/ogc/processes",
  access: "read",
  summary: "The processes that can be executed.",
  response: z.object({ processes: z.array(z.object(summary)), links }),
  errors: ["UNAVAILABLE"],
});

const ogcProcess = defineContract({
  id: "ogcProcess",
  method: "GET",
  path: "/api/ogc/processes/{process_id}",
  access: "read",
  summary: "One process with its inputs and outputs.",
  params: z.object({ process_id: z.string().min(1).max(64) }),
  response: z
    .object({ ...summary, inputs: object, outputs: object })
    .meta({ id: "ProcessDescription" }),
  errors: ["NO_SUCH_PROCESS"],
});

const ogcExecute = defineContract({
  id: "ogcExecute",
  method: "POST",
  path: "/api/ogc/processes/{process_id}/execution",
  access: "submit",
  summary: "Execute a process: always asynchronously, as a submission of your platform.",
  params: z.object({ process_id: z.string().min(1).max(64) }),
  bodyLimit: partnerBodyLimit,
  body: z.object({
    inputs: object,
    outputs: z.unknown().optional(),
    response: z.enum(["raw", "document"]).optional(),
    subscriber: z
      .object({ successUri: z.url(), failedUri: z.url().optional() })
      .optional()
      .describe("gets a signed callback when the request ends"),
  }),
  response: statusInfo,
  status: 201,
  errors: [...submissionErrors, "NO_SUCH_PROCESS"],
});

const ogcJobs = defineContract({
  id: "ogcJobs",
  method: "GET",
  path: "/api/ogc/jobs",
  access: "read",
  summary: "Your requests, the newest first.",
  query: z.strictObject({
    limit: integer(1, 500).prefault(50),
    processID: z.string().max(64).optional(),
    status: statusCode.optional(),
  }),
  response: z.object({ jobs: z.array(statusInfo), links }),
  errors: ["BAD_REQUEST"],
});

const one = z.object({ request_id: requestId });

const ogcJob = defineContract({
  id: "ogcJob",
  method: "GET",
  path: "/api/ogc/jobs/{request_id}",
  access: "read",
  summary: "The state of a request.",
  params: one,
  response: statusInfo,
  errors: ["NO_SUCH_JOB"],
});

const ogcResults = defineContract({
  id: "ogcResults",
  method: "GET",
  path: "/api/ogc/jobs/{request_id}/results",
  access: "read",
  summary: "The outputs of a request that succeeded.",
  params: one,
  response: z.record(z.string(), json),
  errors: ["NO_SUCH_JOB", "RESULT_NOT_READY", "RESULT_FAILED"],
});

const ogcDismiss = defineContract({
  id: "ogcDismiss",
  method: "DELETE",
  path: "/api/ogc/jobs/{request_id}",
  access: "submit",
  summary: "Stop working on a request.",
  params: one,
  response: statusInfo,
  errors: ["NO_SUCH_JOB", "JOB_FINISHED", "UNAVAILABLE"],
});

export const ogcContracts = [
  ogcLanding,
  ogcConformance,
  ogcProcesses,
  ogcProcess,
  ogcExecute,
  ogcJobs,
  ogcJob,
  ogcResults,
  ogcDismiss,
] as const;
