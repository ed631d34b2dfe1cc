import { z } from "zod";
import type { Handlers } from "../../adapters/http/handler.ts";
import { recordCommand } from "../../adapters/postgres/repositories/commands.ts";
import type { commandContracts } from "../../core/api/commands.ts";
import { Problem } from "../../core/errors.ts";
import type { JsonObject } from "../../core/model/json.ts";
import type { RouteDeps } from "../route-deps.ts";

export function commandRoutes(
  deps: Pick<RouteDeps, "db" | "commands">,
): Handlers<typeof commandContracts> {
  const { db, commands } = deps;
  return {
    listCommands: async () => ({
      items: [...commands.values()].map(({ name, summary, input }) => ({
        name,
        summary,
        input: z.toJSONSchema(input, { io: "input" }) as unknown as JsonObject,
      })),
      next_cursor: null,
    }),

    runCommand: async ({ params: { name }, body, caller }) => {
      const command = commands.get(name);
      if (command === undefined || caller === undefined) {
        const known = [...commands.keys()].join(", ");
        throw new Problem(
          "COMMAND_NOT_FOUND",
          `There is no command "${name}"; there are: ${known}.`,
        );
      }
      const input = command.input.safeParse(body);
      if (!input.success) {
        const items = input.error.issues.map(({ path, code, message }) => ({
          pointer: path.map((key) => `/${String(key)}`).join(""),
          code: code,
          message,
        }));
        throw new Problem("BAD_REQUEST", `The input does not fit the command ${name}.`, items);
      }
      const run = { name, caller: caller.name, input: input.data };
      try {
        const result = await command.run(input.data, caller);
        return { name, audit_id: await recordCommand(db, { ...run, ok: true }), result };
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        await recordCommand(db, { ...run, ok: false, detail });
        throw error;
      }
    },
  };
}
