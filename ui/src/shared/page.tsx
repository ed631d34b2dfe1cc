import type { ReactNode } from "react";
import { useEffect } from "react";

/** What `routes.tsx` passes to every page: the named parts of its address. */
export interface PageProps {
  readonly params: Readonly<Record<string, string | undefined>>;
}

/** The frame of a page; `title` is also the title of the browser window. */
export function Page({
  title,
  heading,
  actions,
  children,
}: {
  title: string;
  heading?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · rmhdag`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <h1>{heading ?? title}</h1>
        <div className="page-actions">{actions}</div>
      </header>
      {children}
    </div>
  );
}

export function Card({
  title,
  aside,
  children,
  flush = false,
}: {
  title: ReactNode;
  aside?: ReactNode;
  children: ReactNode;
  flush?: boolean;
}) {
  return (
    <section className="card" data-flush={flush ? "" : undefined}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      <div className="card-body">{children}</div>
    </section>
  );
}
