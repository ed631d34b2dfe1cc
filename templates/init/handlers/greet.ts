import { defineHandler, z } from "rmhdagmaster/worker";

export default defineHandler({
  name: "my.greet",
  description: "Greets a person.",
  params: z.strictObject({ name: z.string().min(1) }),
  result: z.object({ greeting: z.string() }),
  run({ name }, { logger }) {
    logger.info("greeting", { name });
    return { greeting: `Hello, ${name}!` };
  },
});
