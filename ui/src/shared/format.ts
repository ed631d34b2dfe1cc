import { now } from "./clock.ts";

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

export function between(from: string | null, to: string | null): number {
  if (from === null) return Number.NaN;
  return (to === null ? now() : Date.parse(to)) - Date.parse(from);
}

export function ago(time: string): string {
  const ms = now() - Date.parse(time);
  if (ms < 2000) return "just now";
  return ms < 0 ? `in ${duration(-ms)}` : `${coarse(ms)} ago`;
}

/** One unit: that something was 3 minutes ago is enough. */
function coarse(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

const localTime = new Intl.DateTimeFormat(undefined, {
  ...{ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" },
  hour12: false,
});

export function local(time: string): string {
  return localTime.format(new Date(time));
}

export function number(value: number): string {
  return value.toLocaleString("en-US");
}

export function percent(fraction: number | null): string {
  if (fraction === null) return "–";
  const value = fraction * 100;
  return `${value >= 99.95 || value < 0.05 ? Math.round(value) : value.toFixed(1)} %`;
}

/** The head of an id, enough to tell two apart. */
export function short(id: string): string {
  return id.length > 12 ? id.slice(0, 8) : id;
}

export function plural(count: number, word: string, words = `${word}s`): string {
  return `${number(count)} ${count === 1 ? word : words}`;
}

/** How long the oldest of a queue waits, if anything does. */
export function ageText(seconds: number | null): string {
  return seconds === null ? "–" : duration(seconds * 1000);
}
