/** The worker's end of start-worker.js. */
export const config = JSON.parse(process.argv[2]);

let done = 0;
let reported = 0;
setInterval(() => {
  if (done === reported) return;
  reported = done;
  process.send({ done });
}, 10).unref();

export function countDone(tasks = 1) {
  done += tasks;
}

/** What the end of the submitter shall stop. */
export function ready(stop) {
  process.on("disconnect", () => {
    setTimeout(() => process.exit(0), 3000).unref();
    Promise.resolve(stop()).finally(() => process.exit(0));
  });
  process.send("ready");
}
