/** Which page stands at which address. Each is a file of its own, loaded when it is first seen. */
import type { ComponentType, ReactNode } from "react";
import { lazy } from "react";
import { NotFound } from "./pages/not-found.tsx";
import { matchPath } from "./router.tsx";

interface Params {
  readonly params: Readonly<Record<string, string>>;
}

type Load = () => Promise<{ default: ComponentType<Params> }>;

const pages: readonly [string, Load][] = [
  ["/", () => import("./pages/dashboard.tsx")],
  ["/jobs", () => import("./pages/jobs.tsx")],
  ["/jobs/:jobId", () => import("./pages/job.tsx")],
  ["/workflows", () => import("./pages/workflows.tsx")],
  ["/workflows/:workflowId", () => import("./pages/workflow.tsx")],
  ["/workflows/:workflowId/submit", () => import("./pages/submit.tsx")],
  ["/validate", () => import("./pages/validate.tsx")],
  ["/assets", () => import("./pages/assets.tsx")],
  ["/assets/:assetId", () => import("./pages/asset.tsx")],
  ["/review/:assetId/:ordinal", () => import("./pages/review.tsx")],
  ["/catalogue", () => import("./pages/catalogue.tsx")],
  ["/fleet", () => import("./pages/fleet.tsx")],
];

const routes = pages.map(([pattern, load]) => ({ pattern, Page: lazy(load) }));

export function findPage(path: string): ReactNode {
  for (const { pattern, Page } of routes) {
    const params = matchPath(pattern, path);
    if (params !== undefined) return <Page params={params} />;
  }
  return <NotFound path={path} />;
}
