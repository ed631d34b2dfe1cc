import { pino } from "pino";

export type Logger = pino.Logger;

export interface LoggerOptions {
  /** The program; shown on every line. */
  readonly name?: string;
  readonly level: string;
  /** json: one object a line, for machines; text: for people at a terminal. */
  readonly format: "json" | "text";
  /** Where lines go; standard output when absent. */
  readonly destination?: { write(line: string): void };
}

/** Nothing of these may reach a log, wherever in the logged object it is up to this depth. */
const secretKeys = [
  "authorization",
  "cookie",
  "password",
  "secret",
  "sig",
  "token",
  "api_key",
  "connection_string",
  "connectionString",
  "database_url",
];
const censored = "[hidden]";

export function createLogger(options: LoggerOptions): Logger {
  const destination = options.destination ?? standardOutput();
  return pino(
    {
      level: options.level,
      base: { name: options.name ?? "rmhdag", pid: process.pid },
      redact: {
        paths: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]),
        censor: censored,
      },
      serializers: { err: serializeError },
      hooks: {
        streamWrite: (line) => hideSecrets(line),
      },
    },
    options.format === "text" ? textStream(destination) : destination,
  );
}

/** Whoever read our lines may be gone before us: that must not end us in the middle of stopping. */
function standardOutput(): NodeJS.WriteStream {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => undefined);
  return process.stdout;
}

/** Passwords in URLs, and the signatures of signed ones, also inside of messages and stacks. */
export function hideSecrets(text: string): string {
  return text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*):[^\s/@"]+@/gi, `$1:${censored}@`)
    .replace(/([?&](?:sig|token|signature|code)=)[^\s&"\\]+/gi, `$1${censored}`)
    .replace(/\b((?:AccountKey|SharedAccessKey|Password)=)[^\s;"\\]+/gi, `$1${censored}`)
    .replace(/\b(rmhk_[0-9a-f]{12}_)[A-Za-z0-9_-]+/g, `$1${censored}`)
    .replace(/\b(Bearer\s+)[A-Za-z0-9._~+/=-]+/gi, `$1${censored}`);
}

/** Only what tells something: the driver hangs its whole client, keys and all, on its errors. */
function serializeError(error: unknown): unknown {
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
    stack,
    ...(code === undefined ? {} : { code }),
    ...(detail === undefined ? {} : { detail }),
    ...(constraint === undefined ? {} : { constraint }),
    ...(cause === undefined ? {} : { cause: serializeError(cause) }),
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

function toText(line: string): string {
  const { level, time, name, pid, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const clock = new Date(Number(time)).toISOString().slice(11, 23);
  const word = (levelNames.get(Number(level)) ?? String(level)).padEnd(5);
  const more = Object.keys(rest).length === 0 ? "" : ` ${JSON.stringify(rest)}`;
  const stack = (err as { stack?: string } | undefined)?.stack;
  const trouble = stack === undefined ? "" : `\n${stack}`;
  return `${clock} ${word} ${String(name)}[${String(pid)}] ${typeof msg === "string" ? msg : ""}${more}${trouble}\n`;
}
