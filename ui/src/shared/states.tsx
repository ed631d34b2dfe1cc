/** What a page shows in place of data: loading, empty, failed. Each says what to do next. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useRef } from "react";
import { ApiError, errorText } from "./api.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon.tsx";

export function Notice({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="notice">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children === undefined ? null : <div className="notice-text">{children}</div>}
      {action}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div className="skeleton" role="status" aria-label={`Loading ${what}`}>
      <span />
      <span />
      <span />
    </div>
  );
}

export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const code = error instanceof ApiError ? error.code : "PAGE";
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  const again =
    retry === undefined ? undefined : (
      <button className="button" onClick={retry}>
        <Icon name="retry" /> Try again
      </button>
    );
  if (code === "UNREACHABLE") {
    return (
      <Notice icon="warning" title="The server does not answer" action={again}>
        <p>
          It may be restarting; this page continues by itself when it is back. On your own machine,
          check that <code>rmhdag up</code> is running.
        </p>
      </Notice>
    );
  }
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Notice icon="search" title="Not found" action={again}>
        <p>{errorText(error)}</p>
        <p>It may have been deleted, or the address is wrong.</p>
      </Notice>
    );
  }
  if (error instanceof ApiError && error.status === 403) {
    return (
      <Notice icon="ban" title="You may not see this">
        <p>{errorText(error)}</p>
        <p>Sign in with a token that has this access.</p>
      </Notice>
    );
  }
  return (
    <Notice icon="warning" title="This could not be read" action={again}>
      <p>{errorText(error)}</p>
      {requestId === undefined ? null : (
        <p className="dim">
          Request <code>{requestId}</code>
        </p>
      )}
    </Notice>
  );
}

/** Renders the data of a query, or its loading or error state while there is none. */
export function Await<T>({
  query,
  what,
  children,
}: {
  query: Pick<UseQueryResult<T>, "data" | "error" | "errorUpdateCount" | "refetch">;
  what: string;
  children: (data: T) => ReactNode;
}) {
  const { data, error, errorUpdateCount, refetch } = query;
  // TanStack resets the error of a query without data when it reads again. The last error stays on
  // the screen until there is an answer, so that a polled page does not blink.
  const lastError = useRef<Error | null>(null);
  if (error !== null || errorUpdateCount === 0) lastError.current = error;
  if (data !== undefined) return children(data);
  if (lastError.current !== null) {
    return <Failed error={lastError.current} retry={() => void refetch()} />;
  }
  return <Loading what={what} />;
}
