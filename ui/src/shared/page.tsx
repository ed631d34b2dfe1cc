import type { ReactNode } from "react";
import { useEffect } from "react";

/** The head of a page; its title is the window's too. */
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
