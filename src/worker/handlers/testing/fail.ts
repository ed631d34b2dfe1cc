import { defineHandler } from "../../define-handler.ts";
import { PermanentError, ThrottlingError, TransientError } from "../../errors.ts";

export const fail = defineHandler("fail", async ({ message, category }) => {
  switch (category) {
    case "permanent":
      throw new PermanentError(message);
    case "transient":
      throw new TransientError(message);
    case "throttling":
      throw new ThrottlingError(message);
  }
});
