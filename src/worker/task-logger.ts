import type { Logger } from "../adapters/runtime/logger.ts";
import { hideSecrets } from "../adapters/runtime/redact.ts";
import type { JsonObject } from "../core/model/json.ts";
import type { Mask } from "../core/model/mask.ts";
import { checkOutput, cleanText } from "../core/model/output.ts";
import type { LogLine } from "./reporter.ts";

type Level = LogLine["level"];

/** The logger of a handler. It writes to the log of the process and to the log of the task. */
export type TaskLogger = Readonly<Record<Level, (message: string, data?: JsonObject) => void>>;

/** A handler that logs in a loop must not fill the database. */
const maxLinesPerTask = 1000;
const longestMessage = 8192;
const longestData = 16 * 1024;

/** Stores a limited number of lines; all lines are in the log of the process. */
export function createTaskLogger(
  log: Logger,
  about: JsonObject,
  store: (line: LogLine) => void,
  mask?: Mask,
): TaskLogger {
  let lines = 0;

  function write(level: Level, given: string, givenData?: JsonObject): void {
    const message = mask?.text(given) ?? given;
    const data = givenData && mask ? maskData(mask, givenData) : givenData;
    log[level]({ ...fieldsOf(data), ...about }, message);
    lines++;
    if (lines <= maxLinesPerTask) store(toLine(level, message, data));
    else if (lines === maxLinesPerTask + 1) {
      store({ level: "warn", message: "further lines of this task are not stored", data: null });
    }
  }

  const at = (level: Level) => (message: string, data?: JsonObject) => {
    write(level, message, data);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** The names of the logger's own fields. */
const ownFields = new Set(["level", "time", "name", "pid", "msg"]);

/** Fields of a handler under a name of the logger's own stand below `data`, and displace none. */
function fieldsOf(data: JsonObject = {}): JsonObject {
  const entries = Object.entries(data);
  const taken = entries.filter(([name]) => ownFields.has(name));
  if (taken.length === 0) return data;
  const free = entries.filter(([name]) => !ownFields.has(name));
  return { ...Object.fromEntries(free), data: Object.fromEntries(taken) };
}

/** A handler may log anything, so what cannot be written as JSON is left out. */
function maskData(mask: Mask, data: JsonObject): JsonObject {
  const checked = checkOutput(data, { maxBytes: longestData, maxDepth: 16 });
  return checked.ok ? mask.value(JSON.parse(checked.json) as JsonObject) : {};
}

function toLine(level: Level, message: string, data: JsonObject | undefined): LogLine {
  const checked =
    data === undefined ? undefined : checkOutput(data, { maxBytes: longestData, maxDepth: 16 });
  return {
    level,
    message: hideSecrets(cleanText(message)).slice(0, longestMessage),
    data: checked?.ok === true ? hideSecrets(checked.json) : null,
  };
}
