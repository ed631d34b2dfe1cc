/** Times and durations, as text and as components. */
import { now, useNow } from "./clock.ts";

/** `38 ms`, `4.2 s`, `3 m 05 s`, `2 h 10 m`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 0) return "0 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${pad(Math.floor(seconds % 60))} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${pad(minutes % 60)} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}

/** Milliseconds from one time to another, or until now; NaN without a start. */
export function between(from: string | null, to: string | null): number {
  if (from === null) return Number.NaN;
  return (to === null ? now() : Date.parse(to)) - Date.parse(from);
}

export function ago(time: string): string {
  const ms = now() - Date.parse(time);
  if (ms < 2000) return "just now";
  return ms < 0 ? `in ${duration(-ms)}` : `${coarse(ms)} ago`;
}

/** One unit only: `3 min`. */
function coarse(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `2026-11-16 18:20:56` in the reader's time zone: the same for every language of a browser. */
export function local(time: string): string {
  const at = new Date(time);
  const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(pad).join("-");
  return `${date} ${clockTime(at)}`;
}

/** `18:20:56`, in the reader's time zone. */
export function clockTime(at: Date): string {
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(pad).join(":");
}

/** The age of the oldest message of a queue, if there is one. */
export function ageText(seconds: number | null): string {
  return seconds === null ? "–" : duration(seconds * 1000);
}

/** A time in the reader's zone; its tooltip has the exact time in UTC. */
export function Time({ at, relative = false }: { at: string | null; relative?: boolean }) {
  useNow(relative ? 10_000 : 3_600_000, at !== null);
  if (at === null) return <span className="dim">–</span>;
  return (
    <time dateTime={at} title={`${at.replace("T", " ").replace("Z", "")} UTC`}>
      {relative ? ago(at) : local(at)}
    </time>
  );
}

/** Counts on while `to` is null. */
export function Elapsed({ from, to }: { from: string | null; to: string | null }) {
  useNow(1000, from !== null && to === null);
  const ms = between(from, to);
  return <span className="num">{Number.isNaN(ms) ? "–" : duration(ms)}</span>;
}
