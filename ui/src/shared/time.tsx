import { useNow } from "./use-now.ts";
import { ago, between, duration, local } from "./format.ts";

/** In the reader's zone; the exact time in UTC stands behind it. */
export function Time({ at, relative = false }: { at: string | null; relative?: boolean }) {
  useNow(relative ? 10_000 : 3_600_000, at !== null);
  if (at === null) return <span className="dim">–</span>;
  return (
    <time dateTime={at} title={`${at.replace("T", " ").replace("Z", "")} UTC`}>
      {relative ? ago(at) : local(at)}
    </time>
  );
}

/** Runs while it has no end. */
export function Elapsed({ from, to }: { from: string | null; to: string | null }) {
  useNow(1000, from !== null && to === null);
  const ms = between(from, to);
  return <span className="num">{Number.isNaN(ms) ? "–" : duration(ms)}</span>;
}
