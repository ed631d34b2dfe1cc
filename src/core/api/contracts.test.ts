import { describe, expect, it } from "vitest";
import { errorCatalogue } from "../errors.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Contract } from "./contract.ts";
import { access } from "./contract.ts";
import { gatewayContracts } from "./gateway/index.ts";
import { contracts } from "./index.ts";
import { makeOpenApi } from "./openapi.ts";

const all: readonly Contract[] = contracts;

describe("every contract", () => {
  it("has a name and a place of its own", () => {
    const ids = all.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const places = all.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(all.map((contract) => [contract.id, contract] as const))(
    "%s names its parameters, its access and its errors",
    (_id, contract) => {
      const inPath = [...contract.path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name);
      expect(Object.keys(contract.params?.shape ?? {}).sort()).toEqual(inPath.sort());
      expect(access.options).toContain(contract.access);
      expect(contract.errors.length).toBeGreaterThan(0);
      for (const code of contract.errors) expect(Object.hasOwn(errorCatalogue, code)).toBe(true);
      expect(contract.summary).toMatch(/^[A-Z].*\.$/s);
    },
  );

  it("allows no change with read access: what is sent is a text, a search, an area, a sign-in of the caller, or signed for the caller", () => {
    const posted = (wanted: string) =>
      all.filter(({ method, access }) => method !== "GET" && access === wanted).map(({ id }) => id);
    expect(posted("read")).toEqual([
      "validateWorkflow",
      // These give no more than the caller has, and store nothing.
      "signItemLayer",
      "signCollectionLayer",
      "signAssetLayer",
      "createLoginCode",
    ]);
    expect(posted("public")).toEqual([
      "stacSearchPost",
      "getItemAreaStatistics",
      "getAssetAreaStatistics",
      // Only at an address that was signed for this object.
      "writeStored",
      "startSession",
      "endSession",
    ]);
  });
});

describe("the OpenAPI document", () => {
  const document = makeOpenApi(contracts, "1.2.3");

  it("has the structure of version 3.1", () => {
    expect(document["openapi"]).toBe("3.1.0");
    expect(document["info"]).toMatchObject({ title: "rmhdagmaster", version: "1.2.3" });
    const paths = document["paths"] as Record<string, Record<string, Record<string, Json>>>;
    expect(Object.keys(paths).length).toBe(new Set(all.map(({ path }) => path)).size);
    for (const operations of Object.values(paths)) {
      for (const operation of Object.values(operations)) {
        expect(Object.keys(operation["responses"] as object).length).toBeGreaterThan(1);
        for (const status of Object.keys(operation["responses"] as object)) {
          expect(status).toMatch(/^[1-5]\d\d$/);
        }
      }
    }
  });

  it("resolves every reference", () => {
    const schemas = (document["components"] as { schemas: object }).schemas;
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, ref]) => ref!,
    );
    expect(refs.length).toBeGreaterThan(50);
    for (const ref of refs) {
      const name = /^#\/components\/schemas\/(\w+)$/.exec(ref)?.[1];
      expect(name, ref).toBeDefined();
      expect(Object.hasOwn(schemas, name!), ref).toBe(true);
    }
  });

  it("declares every parameter of every path", () => {
    const paths = document["paths"] as Record<
      string,
      Record<string, { parameters?: { name: string; in: string; required: boolean }[] }>
    >;
    for (const [path, operations] of Object.entries(paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters = [] } of Object.values(operations)) {
        const declared = parameters.filter((each) => each.in === "path");
        expect(declared.map(({ name }) => name).sort()).toEqual(named.sort());
        expect(declared.every(({ required }) => required)).toBe(true);
      }
    }
  });

  it("says that an address of tiles is a template, which no URI with braces is", () => {
    const { schemas } = document["components"] as { schemas: Record<string, JsonObject> };
    expect(schemas["ExternalService"]?.["properties"]).toMatchObject({
      url: { format: "uri-template" },
    });
  });

  it("keeps no trace of the library that made its schemas", () => {
    expect(JSON.stringify(document)).not.toMatch(/\$defs|__schema|"\$schema"/);
  });

  it.each([
    ["orchestrator", document],
    ["gateway", makeOpenApi(gatewayContracts, "1.2.3", "gateway")],
  ])("of the %s declares what is answered to every bad request", (server, { paths }) => {
    interface Operation {
      readonly operationId: string;
      readonly parameters?: object[];
      readonly requestBody?: object;
      readonly security?: object[];
      readonly responses: Record<
        string,
        { readonly content?: Record<string, { readonly schema: { readonly type?: unknown } }> }
      >;
    }
    const operations = Object.values(paths as unknown as Record<string, Record<string, Operation>>)
      .flatMap((path) => Object.values(path))
      .filter((each) => Object.hasOwn(each, "operationId"));
    expect(operations.length).toBeGreaterThan(50);
    for (const { operationId, parameters = [], requestBody, security, responses } of operations) {
      const wanted = [
        ...(parameters.length > 0 || requestBody !== undefined ? ["400"] : []),
        ...(requestBody === undefined ? [] : ["413", "415"]),
        ...(server === "gateway" && (security ?? []).length > 0 ? ["429"] : []),
      ];
      expect([operationId, Object.keys(responses)]).toEqual([
        operationId,
        expect.arrayContaining(wanted),
      ]);
      for (const [status, { content = {} }] of Object.entries(responses)) {
        const texts = Object.entries(content).filter(([, { schema }]) => schema.type === "string");
        const types = ["204", "304"].includes(status)
          ? Object.keys(content)
          : texts.map(([type]) => type);
        expect([operationId, types.filter((type) => type.includes("json"))]).toEqual([
          operationId,
          [],
        ]);
        if (Number(status) < 400) continue;
        expect([operationId, status, Object.keys(content)]).toEqual([
          operationId,
          status,
          ["application/problem+json"],
        ]);
      }
    }
  });
});
