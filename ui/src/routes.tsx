/** The page of each address. A page is a file of its own that is loaded when it is first opened. */
import { lazy } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import type { PageProps } from "./shared/page.tsx";
import { Notice } from "./shared/states.tsx";

const pages = [
  { path: "/", Page: lazy(() => import("./dashboard/dashboard-page.tsx")) },
  { path: "/jobs", Page: lazy(() => import("./jobs/jobs-page.tsx")) },
  { path: "/jobs/:jobId", Page: lazy(() => import("./jobs/job-page.tsx")) },
  { path: "/nodes", Page: lazy(() => import("./jobs/nodes-page.tsx")) },
  { path: "/tasks", Page: lazy(() => import("./jobs/tasks-page.tsx")) },
  { path: "/lineage", Page: lazy(() => import("./lineage/lineage-page.tsx")) },
  { path: "/workflows", Page: lazy(() => import("./workflows/workflows-page.tsx")) },
  { path: "/workflows/:workflowId", Page: lazy(() => import("./workflows/workflow-page.tsx")) },
  {
    path: "/workflows/:workflowId/submit",
    Page: lazy(() => import("./workflows/submit-page.tsx")),
  },
  { path: "/handlers", Page: lazy(() => import("./handlers/handlers-page.tsx")) },
  { path: "/handlers/:name", Page: lazy(() => import("./handlers/handler-page.tsx")) },
  { path: "/validate", Page: lazy(() => import("./workflows/validate-page.tsx")) },
  { path: "/assets", Page: lazy(() => import("./assets/assets-page.tsx")) },
  { path: "/assets/:assetId", Page: lazy(() => import("./assets/asset-page.tsx")) },
  { path: "/review/:assetId/:ordinal", Page: lazy(() => import("./assets/review-page.tsx")) },
  { path: "/catalogue", Page: lazy(() => import("./catalogue/catalogue-page.tsx")) },
  { path: "/h3", Page: lazy(() => import("./h3/h3-page.tsx")) },
  { path: "/storage", Page: lazy(() => import("./files/storage-page.tsx")) },
  { path: "/open", Page: lazy(() => import("./shell/open-page.tsx")) },
  { path: "/fleet", Page: lazy(() => import("./fleet/fleet-page.tsx")) },
  { path: "/access", Page: lazy(() => import("./sign-in/access-page.tsx")) },
];

export function Pages() {
  return (
    <Switch>
      {pages.map(({ path, Page }) => (
        <Route key={path} path={path}>
          {(params: PageProps["params"]) => <Page params={params} />}
        </Route>
      ))}
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}

function NotFound() {
  const [path] = useLocation();
  return (
    <Notice
      icon="search"
      title="There is no such page"
      action={
        <Link to="/" className="button">
          Go to the dashboard
        </Link>
      }
    >
      <p>
        The console has no page at <code>{path}</code>. Press <kbd>?</kbd> for the keys that open
        each page.
      </p>
    </Notice>
  );
}
