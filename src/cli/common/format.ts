/** Text for people: tables, counts, durations, and texts of others without control characters. */
import { systemClock } from "../../adapters/runtime/clock.ts";

export type Cell = string | number | null | undefined;

/** Columns as wide as their widest cell; numbers are right-aligned. Empty cells are a dash. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map(cellText));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...texts.map((row) => row[column]?.length ?? 0)),
  );
  const isNumber = head.map(
    (_, column) =>
      rows.every((row) => typeof row[column] === "number" || row[column] == null) &&
      rows.some((row) => row[column] != null),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return isNumber[column] === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  return [line(head), ...texts.map(line)].join("\n");
}

function cellText(cell: Cell): string {
  const isEmpty = cell === null || cell === undefined || cell === "";
  return isEmpty ? "–" : stripControlCharacters(String(cell));
}

/**
 * Handlers and workflow authors write the texts that are printed here. An escape sequence in one
 * could rewrite the screen or the title of the terminal, so control characters become spaces.
 */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, " ");
}

export function plural(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const groups = new Intl.NumberFormat("en-US");

/** 10,000: the same in every locale, so that scripts can compare output. */
export function grouped(count: number): string {
  return groups.format(count);
}

/** 40 ms, 3.2 s, 4 min 05 s, 2 h 10 min, 3 d. */
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

/** The duration from one time to another, or to now; null when `from` is null. */
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
