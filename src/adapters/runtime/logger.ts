import { pino } from "pino";
import { escapeControls, escapeUpperControls } from "./control-characters.ts";
import { hideSecrets } from "./redact.ts";

export type Logger = pino.Logger;

export interface LoggerOptions {
  /** The program's name, which every line has. */
  readonly name?: string;
  readonly level: string;
  /** json: one object a line, for machines; text: for people at a terminal. */
  readonly format: "json" | "text";
  /** Standard output when undefined. */
  readonly destination?: { write(line: string): void };
}

/** Values of these keys are hidden whole, also objects, on the first three levels. */
const secretKeys = ["authorization", "cookie", "password", "secret", "token", "api_key"];

export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? standardOutput();
  const shownBefore = rememberStacks();
  return pino(
    {
      level: options.level,
      base: { name: options.name ?? "rmhdag", pid: process.pid },
      redact: {
        paths: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]),
        censor: "[hidden]",
      },
      serializers: { err: (error: unknown) => serializeError(error, shownBefore) },
      hooks: {
        streamWrite: (line) => escapeUpperControls(hideSecrets(line)),
      },
    },
    options.format === "text" ? textStream(destination) : destination,
  );
}

/**
 * Ignores a closed pipe: the reader of the log may end first, and must not end a stopping program.
 */
function standardOutput(): NodeJS.WriteStream {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => undefined);
  return process.stdout;
}

type ShownBefore = (stack: string) => boolean;

/** An error that repeats in an outage shows its stack once in so long, and only its message else. */
const stackEveryMs = 10 * 60_000;
const rememberedStacks = 200;

function rememberStacks(): ShownBefore {
  const shown = new Map<string, number>();
  return (stack) => {
    const now = performance.now();
    const last = shown.get(stack);
    if (last !== undefined && now - last < stackEveryMs) return true;
    shown.delete(stack);
    shown.set(stack, now);
    const [oldest] = shown.keys();
    if (shown.size > rememberedStacks && oldest !== undefined) shown.delete(oldest);
    return false;
  };
}

/** Keeps only the fields that explain an error: the driver attaches its client with its keys. */
function serializeError(error: unknown, shownBefore: ShownBefore): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code, detail, constraint } = error as {
    code?: unknown;
    detail?: unknown;
    constraint?: unknown;
  };
  return {
    type: name,
    message,
    ...(stack === undefined || shownBefore(stack) ? {} : { stack }),
    ...(code === undefined ? {} : { code }),
    ...(detail === undefined ? {} : { detail }),
    ...(constraint === undefined ? {} : { constraint }),
    ...(cause === undefined ? {} : { cause: serializeError(cause, shownBefore) }),
  };
}

const levelNames: ReadonlyMap<number, string> = new Map(
  Object.entries(pino.levels.values).map(([name, value]) => [value, name.toUpperCase()]),
);

function textStream(destination: { write(line: string): void }) {
  return {
    write(line: string): void {
      destination.write(toText(line));
    },
  };
}

function describeTrouble(err: unknown): string {
  if (typeof err !== "object" || err === null) return "";
  const { type, message, stack } = err as { type?: string; message?: string; stack?: string };
  return stack === undefined ? `\n${type ?? "Error"}: ${message ?? ""}` : `\n${stack}`;
}

function toText(line: string): string {
  const { level, time, name, pid, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const clock = new Date(Number(time)).toISOString().slice(11, 23);
  const word = (levelNames.get(Number(level)) ?? String(level)).padEnd(5);
  const fields = escapeUpperControls(JSON.stringify(rest));
  const more = fields === "{}" ? "" : ` ${fields}`;
  const trouble = describeTrouble(err);
  const message = typeof msg === "string" ? escapeControls(msg) : "";
  return `${clock} ${word} ${String(name)}[${String(pid)}] ${message}${more}${escapeControls(trouble)}\n`;
}
