import type { JsonObject } from "../../core/model/json.ts";
import { isJsonObject } from "../../core/model/json.ts";
import type { HandlerContext } from "../define-handler.ts";

const levels = ["debug", "info", "warn", "error"] as const;

/**
 * Carries out a line that speaks to the worker: `::progress 40 text`, `::checkpoint {…}`,
 * `::log warn text`. Answers false for any other line, and the saving of a checkpoint as a promise.
 */
export function hearLine(line: string, context: HandlerContext): boolean | Promise<void> {
  const [, word, rest = ""] = /^::(progress|checkpoint|log)(?: (.*))?$/.exec(line) ?? [];
  switch (word) {
    case "progress": {
      const [, percent = "", text] = /^([\d.]+)(?: (.*))?$/.exec(rest) ?? [];
      context.progress(Number(percent === "" ? NaN : percent), text);
      return true;
    }
    case "checkpoint": {
      const data = parse(rest);
      if (data !== undefined) return context.checkpoint.save("program", data);
      context.logger.warn("a checkpoint of the program is not a JSON object");
      return true;
    }
    case "log": {
      const [first = "", ...words] = rest.split(" ");
      const level = levels.find((each) => each === first);
      context.logger[level ?? "info"](level === undefined ? rest : words.join(" "));
      return true;
    }
    default:
      return false;
  }
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
