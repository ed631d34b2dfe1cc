import { defineHandler } from "../../define-handler.ts";

export const finalize = defineHandler("finalize", async (params) => ({
  ...params,
  finalized: true as const,
}));
