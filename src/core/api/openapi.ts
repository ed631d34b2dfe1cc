/**
 * Makes the OpenAPI 3.1 document of a list of contracts. It is pure, so that the document can be
 * generated and checked.
 */
import { z } from "zod";
import type { ErrorCode } from "../errors.ts";
import { errorCatalogue } from "../errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import { isJsonObject } from "../model/json.ts";
import type { Contract } from "./contract.ts";
import { usualBodyLimit } from "./contract.ts";
import type { Program } from "./refusals.ts";
import { refusalsOf } from "./refusals.ts";
import { problem } from "./schemas.ts";

type Mutable = Record<string, Json>;

const titles = {
  orchestrator: {
    title: "rmhdagmaster",
    description: "Submit workflows, watch and steer their jobs, and look after the platform.",
  },
  gateway: {
    title: "rmhdagmaster gateway",
    description: "For partners: submit datasets, follow requests, review and publish assets.",
  },
} as const;

export function makeOpenApi(
  contracts: readonly Contract[],
  version: string,
  program: Program = "orchestrator",
): JsonObject {
  const schemas: Mutable = {};
  const paths: Record<string, Mutable> = {};
  for (const contract of contracts) {
    const path = (paths[contract.path.replace("*}", "}")] ??= {});
    path[contract.method.toLowerCase()] = operation(contract, schemas, program);
  }
  convert(problem, "output", schemas);
  return {
    openapi: "3.1.0",
    info: { title: titles[program].title, version, description: titles[program].description },
    paths,
    components: {
      schemas: sortKeys(schemas),
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        session: { type: "apiKey", in: "cookie", name: "rmhdag_session" },
      },
    },
  };
}

function operation(contract: Contract, schemas: Mutable, program: Program): JsonObject {
  const { id, summary, access, body } = contract;
  const parameters = [
    ...parametersOf(contract.params, "path", schemas),
    ...parametersOf(contract.query, "query", schemas),
    ...Object.entries(contract.headers ?? {}).map(([name, description]) => {
      return { name, in: "header", required: false, description, schema: { type: "string" } };
    }),
  ];
  return {
    operationId: id,
    summary,
    tags: [tagOf(contract.path)],
    "x-access": access,
    ...(access === "public" ? { security: [] } : { security: [{ token: [] }, { session: [] }] }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            description: `At most ${sizeText(contract.bodyLimit ?? usualBodyLimit)}.`,
            required: !body.safeParse(undefined).success,
            content:
              contract.rawBody === undefined
                ? { "application/json": { schema: convert(body, "input", schemas) } }
                : { [contract.rawBody]: { schema: { type: "string", format: "binary" } } },
          },
        }),
    responses: responses(contract, schemas, program),
  };
}

function parametersOf(
  schema: z.ZodObject | undefined,
  where: "path" | "query",
  schemas: Mutable,
): JsonObject[] {
  if (schema === undefined) return [];
  return Object.entries(schema.shape).map(([name, part]) => {
    const field = part as z.ZodType;
    const description = field.description;
    return {
      name,
      in: where,
      required: where === "path" || !field.safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: convert(field, "input", schemas),
    };
  });
}

function responses(contract: Contract, schemas: Mutable, program: Program): JsonObject {
  const good = contract.status ?? 200;
  const written = convert(contract.response, "output", schemas);
  // A route that names its media type may write the text itself, and then its schema says so.
  const isText = contract.media !== undefined && contract.response instanceof z.ZodString;
  const schema = isText ? undefined : written;
  const media = contract.types ?? [contract.media ?? "application/json"];
  const body =
    contract.stream === "events"
      ? { "text/event-stream": { schema: eventOf(written) } }
      : Object.fromEntries(media.map((each) => [each, { schema: schemaFor(each, schema) }]));
  const content = good === 303 || isEmpty(String(good)) ? {} : { content: body };
  const entries: [string, Json][] =
    contract.stream === "socket"
      ? [["101", { description: "The socket is open; each message is a StreamMessage." }]]
      : [
          [
            String(good),
            { description: good === 303 ? "Go to the user interface." : "As asked.", ...content },
          ],
        ];
  for (const [status, description] of Object.entries(contract.also ?? {})) {
    entries.push([status, { description, ...(isEmpty(status) ? {} : content) }]);
  }
  return Object.fromEntries([...entries, ...refusals(contract, program)]);
}

function isEmpty(status: string): boolean {
  return status === "204" || status === "304";
}

/** A server-sent event, whose data are a message as JSON. */
function eventOf(message: Json): JsonObject {
  const data = { type: "string", contentMediaType: "application/json", contentSchema: message };
  const text = { type: "string" };
  return { type: "object", properties: { id: text, event: text, data }, required: ["data"] };
}

const geoJson: Json = {
  type: "object",
  properties: { type: { type: "string", enum: ["Feature", "FeatureCollection"] } },
  required: ["type"],
};

/** A schema describes JSON; any other media type holds text or bytes. */
function schemaFor(media: string, schema: Json | undefined): Json {
  if (!/json\b/.test(media)) return { type: "string" };
  return schema ?? (media === "application/geo+json" ? geoJson : {});
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return mebibytes < 1 ? `${bytes / 1024} kB` : `${mebibytes} MiB`;
}

/** Several codes may share one status. */
function refusals(contract: Contract, program: Program): [string, Json][] {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of refusalsOf(contract, program)) {
    const { status } = errorCatalogue[code];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  return [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => [
      String(status),
      {
        description: [...codes].map((code) => `${code}: ${errorCatalogue[code].title}`).join("; "),
        content: {
          "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
        },
      },
    ]);
}

/** Schemas that have a name move to the components, and the document refers to them there. */
function convert(schema: z.ZodType, io: "input" | "output", schemas: Mutable): Json {
  const made = z.toJSONSchema(schema, { io, target: "draft-2020-12", unrepresentable: "any" });
  const { $defs, ...rest } = made as unknown as Mutable & { $defs?: Mutable };
  for (const [name, each] of Object.entries($defs ?? {})) schemas[name] ??= relocate(each);
  const id = rest["id"];
  if (typeof id !== "string") return relocate(rest);
  schemas[id] ??= relocate(rest);
  return { $ref: `#/components/schemas/${id}` };
}

function relocate(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(relocate);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, each]): [string, Json][] => {
    if ((key === "id" || key === "$schema") && typeof each === "string") return [];
    if (key === "$ref" && typeof each === "string") {
      return [[key, each.replace("#/$defs/", "#/components/schemas/")]];
    }
    return [[key, relocate(each)]];
  });
  return Object.fromEntries(entries);
}

function sortKeys(value: Mutable): JsonObject {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The first word after the prefix: jobs, nodes, workflows … */
function tagOf(path: string): string {
  return /^\/(?:api\/v1\/|ws\/)?([\w-]+)/.exec(path)?.[1] ?? "other";
}
