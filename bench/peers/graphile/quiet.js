import { Logger } from "graphile-worker";

/** Its default logger writes two lines a job, which would be measured as well. */
export const quiet = new Logger(() => (level, message) => {
  if (level === "error") process.stderr.write(`graphile-worker: ${message}\n`);
});
