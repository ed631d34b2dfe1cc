/** Which page stands at which address. Each is a file of its own, loaded when it is first seen. */
import type { ComponentType, ReactNode } from "react";
import { lazy } from "react";
import { NotFound } from "./shell/not-found.tsx";
import { matchPath } from "./shared/navigation.tsx";

interface Params {
  readonly params: Readonly<Record<string, string>>;
}

type Load = () => Promise<{ default: ComponentType<Params> }>;

const pages: readonly [string, Load][] = [
  ["/", () => import("./dashboard/dashboard-page.tsx")],
  ["/jobs", () => import("./jobs/jobs-page.tsx")],
  ["/jobs/:jobId", () => import("./jobs/job-page.tsx")],
  ["/workflows", () => import("./workflows/workflows-page.tsx")],
  ["/workflows/:workflowId", () => import("./workflows/workflow-page.tsx")],
  ["/workflows/:workflowId/submit", () => import("./workflows/submit-page.tsx")],
  ["/validate", () => import("./workflows/validate-page.tsx")],
  ["/assets", () => import("./assets/assets-page.tsx")],
  ["/assets/:assetId", () => import("./assets/asset-page.tsx")],
  ["/review/:assetId/:ordinal", () => import("./assets/review-page.tsx")],
  ["/catalogue", () => import("./catalogue/catalogue-page.tsx")],
  ["/fleet", () => import("./fleet/fleet-page.tsx")],
];

const routes = pages.map(([pattern, load]) => ({ pattern, Page: lazy(load) }));

export function findPage(path: string): ReactNode {
  for (const { pattern, Page } of routes) {
    const params = matchPath(pattern, path);
    if (params !== undefined) return <Page params={params} />;
  }
  return <NotFound path={path} />;
}
