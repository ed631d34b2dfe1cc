/** What a page shows when it has nothing to show: each says what to do next. */
import type { ReactNode } from "react";
import { ApiError, explain } from "./api.ts";
import type { Loaded } from "./query-client.ts";
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
          It may be starting again; this page goes on by itself when it is back. On your own
          machine, see whether <code>rmhdag up</code> still runs.
        </p>
      </Notice>
    );
  }
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Notice icon="search" title="There is no such thing here" action={again}>
        <p>{explain(error)}</p>
        <p>It may have been deleted, or the address is not quite right.</p>
      </Notice>
    );
  }
  if (error instanceof ApiError && error.status === 403) {
    return (
      <Notice icon="ban" title="You may not see this">
        <p>{explain(error)}</p>
        <p>Sign in with a token that has this access.</p>
      </Notice>
    );
  }
  return (
    <Notice icon="warning" title="This could not be read" action={again}>
      <p>{explain(error)}</p>
      {requestId === undefined ? null : (
        <p className="dim">
          Request <code>{requestId}</code>
        </p>
      )}
    </Notice>
  );
}

/** The value, or what stands in its place while it is loading or when it failed. */
export function Await<T>({
  loaded,
  what,
  children,
}: {
  loaded: Loaded<T>;
  what: string;
  children: (data: T) => ReactNode;
}) {
  const { data, error, reload } = loaded;
  if (data !== undefined) return children(data);
  if (error !== undefined) return <Failed error={error} retry={reload} />;
  return <Loading what={what} />;
}
