import { z } from "zod";
import type { Caller } from "../../adapters/http/handler.ts";
import type { Json, JsonObject } from "../../core/model/json.ts";

/** Something that is done at once, in this process, without a queue or a worker. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly input: z.ZodType<JsonObject>;
  run(input: JsonObject, caller: Caller): Promise<Json>;
}

const ping: Command = {
  name: "ping",
  summary: "Answers, and leaves its audit event: for trying out.",
  input: z.strictObject({ message: z.string().max(1024).optional() }) as z.ZodType<JsonObject>,
  run: async (input, caller) => ({ pong: true, caller: caller.name, ...input }),
};

export function createCommands(commands: readonly Command[] = []): ReadonlyMap<string, Command> {
  return new Map([ping, ...commands].map((command) => [command.name, command]));
}
