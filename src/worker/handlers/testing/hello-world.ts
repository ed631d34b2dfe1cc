import { defineHandler } from "../../define-handler.ts";

export const helloWorld = defineHandler("hello_world", async ({ name }) => ({
  greeting: `Hello, ${name}!`,
}));
