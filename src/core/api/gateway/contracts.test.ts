import { describe, expect, it } from "vitest";
import { errorCatalogue } from "../../errors.ts";
import type { Contract } from "../contract.ts";
import { makeOpenApi } from "../openapi.ts";
import { gatewayContracts } from "./index.ts";

const all: readonly Contract[] = gatewayContracts;

describe("every contract of the gateway", () => {
  it("has a name and a place of its own, below /api or as a probe", () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(new Set(all.map(({ method, path }) => `${method} ${path}`)).size).toBe(all.length);
    const outside = all.filter(({ path }) => !path.startsWith("/api"));
    expect(outside.map(({ path }) => path)).toEqual(["/livez", "/readyz", "/metrics"]);
  });

  it.each(all.map((contract) => [contract.id, contract] as const))(
    "%s names its parameters and its errors",
    (_id, { path, params, errors, summary }) => {
      const inPath = [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name);
      expect(Object.keys(params?.shape ?? {}).sort()).toEqual(inPath.sort());
      for (const code of errors) expect(Object.hasOwn(errorCatalogue, code)).toBe(true);
      expect(summary).toMatch(/^[A-Z].*\.$/s);
    },
  );

  it("is for partners, for operators or public, and for no service", () => {
    const found = new Set(all.map(({ access }) => access));
    expect([...found].sort()).toEqual(["admin", "curate", "operate", "public", "read", "submit"]);
  });

  it("answers partners with nothing that names a job, a node or an owner", () => {
    const document = makeOpenApi(
      all.filter(({ access }) => access !== "operate"),
      "1.2.3",
      "gateway",
    );
    const names = [...JSON.stringify(document).matchAll(/"(\w+)":\{"type"/g)].map(
      ([, name]) => name,
    );
    expect(names).toContain("request_id");
    expect(
      names.filter((name) =>
        /^(?:\w+_)?(?:job_id|node_id|task_id|owner_id|worker_id)$/.test(name!),
      ),
    ).toEqual([]);
  });

  it.each([
    "POST /api/platform/submit",
    "GET /api/platform/status/{request_id}",
    "POST /api/gateway/submit/batch",
    "GET /api/gateway/health",
    "GET /api/status/job/{job_id}",
    "GET /api/status/jobs",
    "GET /api/status/job/{job_id}/nodes",
    "GET /api/status/job/{job_id}/events",
    "GET /api/status/stats",
    "GET /api/status/lookup",
    "GET /api/proxy/{target}/{path*}",
    "POST /api/proxy/{target}/{path*}",
    "GET /api/proxy/health",
    "GET /api/admin/health",
    "GET /api/admin/config",
    "GET /api/admin/active-jobs",
    "GET /api/admin/recent-events",
    "GET /api/admin/workflows",
    "GET /api/livez",
    "GET /api/readyz",
  ])("keeps the place that is known to others: %s", (place) => {
    expect(all.map(({ method, path }) => `${method} ${path}`)).toContain(place);
  });
});
