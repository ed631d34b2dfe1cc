import { setTimeout as pause } from "node:timers/promises";
import { defineHandler } from "../../define-handler.ts";

export const sleep = defineHandler("sleep", async ({ seconds }, { signal }) => {
  await pause(seconds * 1000, undefined, { signal });
  return { slept_seconds: seconds };
});
