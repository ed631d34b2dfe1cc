/** Temporal's workflows; they run in its sandbox, and every task of them is an activity. */
import { proxyActivities } from "@temporalio/workflow";

const { echo } = proxyActivities({ startToCloseTimeout: "1 minute" });

export const one = (n) => echo(n);

export async function chain(length) {
  let last;
  for (let n = 0; n < length; n++) last = await echo(n);
  return last;
}

export const fan = (width) => Promise.all(Array.from({ length: width }, (_, n) => echo(n)));

export async function diamond(n) {
  await echo(n);
  await Promise.all([echo(n), echo(n), echo(n)]);
  return echo(n);
}
