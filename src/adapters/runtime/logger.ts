import { pino } from "pino";

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

/** Values of these keys are hidden, on the first three levels of a logged object. */
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

/**
 * Ignores a closed pipe: the reader of the log may end first, and must not end a stopping program.
 */
function standardOutput(): NodeJS.WriteStream {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => undefined);
  return process.stdout;
}

/** Hides passwords in URLs, signatures, tokens and keys, also inside of messages and stacks. */
export function hideSecrets(text: string): string {
  return text
    .replace(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*):[^\s/@"]+@/gi, `$1:${censored}@`)
    .replace(/([?&](?:sig|token|signature|code)=)[^\s&"\\]+/gi, `$1${censored}`)
    .replace(/\b((?:AccountKey|SharedAccessKey|Password)=)[^\s;"\\]+/gi, `$1${censored}`)
    .replace(/\b(rmhk_[0-9a-f]{12}_)[A-Za-z0-9_-]+/g, `$1${censored}`)
    .replace(/\b(Bearer\s+)[A-Za-z0-9._~+/=-]+/gi, `$1${censored}`);
}

/** Keeps only the fields that explain an error: the driver attaches its client with its keys. */
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
