import { defineHandler } from "../../define-handler.ts";

export const echo = defineHandler("echo", async (params) => ({ echoed_params: params }));
