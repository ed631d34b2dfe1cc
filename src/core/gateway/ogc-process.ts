/**
 * Translates workflows and requests to OGC API – Processes: a workflow is a process, a request is a
 * job (with the request's id, never that of one of our jobs), and executing is submitting.
 */
import { z } from "zod";
import type { JsonObject } from "../model/json.ts";
import type { InputDeclaration } from "../model/workflow.ts";

export interface Offered {
  readonly workflow_id: string;
  readonly version: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly inputs: Readonly<Record<string, InputDeclaration>> | null;
  readonly outputs: Readonly<Record<string, unknown>> | null;
}

export interface Link {
  readonly href: string;
  readonly rel: string;
  readonly type: string;
  readonly title?: string;
}

export function link(href: string, rel: string, title?: string): Link {
  return { href, rel, type: "application/json", ...(title === undefined ? {} : { title }) };
}

/** A standard client sends only inputs, so the other fields of a submission are inputs too. */
const ofSubmission = {
  platform_refs: {
    title: "What the dataset is called at your platform",
    schema: { type: "object", additionalProperties: true },
    minOccurs: 1,
    maxOccurs: 1,
  },
  version_label: {
    title: "Your name of this version",
    schema: { type: "string", minLength: 1, maxLength: 128 },
    minOccurs: 0,
    maxOccurs: 1,
  },
} as const;

export function summariseProcess(offered: Offered, base: string) {
  const self = `${base}/processes/${encodeURIComponent(offered.workflow_id)}`;
  return {
    id: offered.workflow_id,
    version: offered.version,
    title: offered.name ?? offered.workflow_id,
    ...(offered.description === null ? {} : { description: offered.description }),
    jobControlOptions: ["async-execute", "dismiss"],
    outputTransmission: ["value"],
    links: [
      link(self, "self"),
      link(`${self}/execution`, "http://www.opengis.net/def/rel/ogc/1.0/execute"),
    ],
  };
}

export function describeProcess(offered: Offered, base: string) {
  const inputs = Object.entries(offered.inputs ?? {}).map(([name, declaration]) => [
    name,
    {
      title: declaration.description ?? name,
      schema: schemaOf(declaration),
      minOccurs: declaration.required ? 1 : 0,
      maxOccurs: 1,
    },
  ]);
  const names = Object.keys(offered.outputs ?? { result: true });
  const outputs = names.map((name) => [name, { title: name, schema: {} }]);
  return {
    ...summariseProcess(offered, base),
    inputs: { ...(Object.fromEntries(inputs) as JsonObject), ...ofSubmission },
    outputs: Object.fromEntries(outputs) as JsonObject,
  };
}

function schemaOf(declaration: InputDeclaration): JsonObject {
  const { type, default: fallback, enum: choices, minimum, maximum, pattern } = declaration;
  return {
    type,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(choices === undefined ? {} : { enum: choices }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(pattern === undefined ? {} : { pattern }),
  };
}

/**
 * An input may be given as a plain value or as `{ "value": … }`. Inputs by reference are not
 * fetched.
 */
const qualified = z.strictObject({ value: z.unknown(), mediaType: z.string().optional() });

export interface Execution {
  readonly inputs: JsonObject;
  readonly platform_refs: unknown;
  readonly version_label: unknown;
}

export function readExecution(given: JsonObject): Execution {
  const entries = Object.entries(given).map(([name, value]) => {
    const found = qualified.safeParse(value);
    return [name, found.success ? found.data.value : value] as const;
  });
  const own = new Map<string, unknown>(entries);
  const take = (name: string): unknown => {
    const value = own.get(name);
    own.delete(name);
    return value;
  };
  const platform_refs = take("platform_refs");
  const version_label = take("version_label");
  return { platform_refs, version_label, inputs: Object.fromEntries(own) as JsonObject };
}

const statuses = {
  pending: "accepted",
  running: "running",
  completed: "successful",
  failed: "failed",
  cancelled: "dismissed",
} as const;

export interface ShownRequest {
  readonly request_id: string;
  readonly workflow_id: string;
  readonly status: keyof typeof statuses;
  readonly percent: number;
  readonly error: JsonObject | null;
  readonly submitted_at: string;
  readonly completed_at: string | null;
}

export function toStatusInfo(request: ShownRequest, base: string) {
  const { request_id, workflow_id, status, percent, error, submitted_at, completed_at } = request;
  const self = `${base}/jobs/${encodeURIComponent(request_id)}`;
  const message = typeof error?.["message"] === "string" ? error["message"] : undefined;
  const results = link(`${self}/results`, "http://www.opengis.net/def/rel/ogc/1.0/results");
  return {
    processID: workflow_id,
    type: "process" as const,
    jobID: request_id,
    status: statuses[status],
    ...(message === undefined ? {} : { message }),
    created: submitted_at,
    ...(completed_at === null ? {} : { finished: completed_at }),
    progress: percent,
    links: [link(self, "self"), ...(status === "completed" ? [results] : [])],
  };
}

export const conformance = ["core", "ogc-process-description", "json", "job-list", "dismiss"].map(
  (name) => `http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/${name}`,
);

export function requestStatusOf(status: (typeof statuses)[keyof typeof statuses]): string {
  return Object.entries(statuses).find(([, shown]) => shown === status)?.[0] ?? status;
}
