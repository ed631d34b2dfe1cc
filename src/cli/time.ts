import { systemClock } from "../adapters/runtime/clock.ts";

/** 40 ms, 3.2 s, 4 min 05 s, 2 h 10 min: as exact as anybody can use. */
export function duration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return `${Math.floor(minutes / 1440)} d`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** From one time to another, or to now; null when it has not begun. */
export function between(
  from: string | null,
  to: string | null,
  now: Date = systemClock.now(),
): string | null {
  if (from === null) return null;
  return duration((to === null ? now.getTime() : Date.parse(to)) - Date.parse(from));
}

export function ago(time: string | null, now: Date = systemClock.now()): string | null {
  return time === null ? null : `${duration(now.getTime() - Date.parse(time))} ago`;
}
