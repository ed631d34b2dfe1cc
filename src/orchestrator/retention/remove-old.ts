/** Removes what is older than its class is kept: small batches, one orchestrator at a time. */
import { setTimeout as pause } from "node:timers/promises";
import type { Database, Transaction } from "../../adapters/postgres/database.ts";
import {
  advancePass,
  deleteRowsOfJobs,
  findJobsWithValues,
  findOldJobs,
  forgetJobs,
  lockClass,
  readRowsOfJobs,
  startPass,
  takeOldRows,
} from "../../adapters/postgres/repositories/retention.ts";
import type { OldJob, Pass } from "../../adapters/postgres/repositories/retention.ts";
import type { Clock } from "../../adapters/runtime/clock.ts";
import type { Storage } from "../../adapters/storage/storage.ts";
import type { JobClass, RetentionClass, RetentionSettings } from "../../core/retention/classes.ts";
import { isJobClass, retentionClass } from "../../core/retention/classes.ts";
import { archiveRows } from "./archive-rows.ts";

export interface RetentionDeps {
  readonly db: Database;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly settings: RetentionSettings;
}

/** A batch is at most this many jobs, and about as many rows; a job larger than that is one batch. */
const mostJobs = 500;
const mostRows = 5000;
/** What a pass has kept is looked at again after a day. */
const hoursBetweenPasses = 24;
/** A run leaves off after a while, so that the program can stop. */
const runMs = 10_000;

export interface Removed {
  readonly class: RetentionClass;
  readonly removed: number;
  readonly archived: number;
  /** There is more to remove, or another orchestrator is at it. */
  readonly more: boolean;
}

/** Removes for some seconds. `again` starts a pass although the last one ended today. */
export async function removeOld(
  deps: RetentionDeps,
  {
    classes = retentionClass.options,
    again = false,
  }: {
    readonly classes?: readonly RetentionClass[];
    readonly again?: boolean;
  } = {},
): Promise<readonly Removed[]> {
  const until = deps.clock.now().getTime() + runMs;
  const done: Removed[] = [];
  for (const name of classes) {
    let removed = 0;
    let archived = 0;
    let more = deps.settings.days[name] > 0;
    for (let first = true; more && deps.clock.now().getTime() < until; first = false) {
      const started = deps.clock.now().getTime();
      const batch = await removeBatch(deps, name, again && first);
      removed += batch.removed;
      archived += batch.archived;
      more = batch.more;
      if (batch.isBusy) break;
      // As long as the batch took: half of the time the database is left to jobs.
      if (more) await pause(Math.min(1000, deps.clock.now().getTime() - started));
    }
    done.push({ class: name, removed, archived, more });
  }
  return done;
}

/** For the service: in how many milliseconds it wants to run again. */
export async function removeOldInBackground(deps: RetentionDeps): Promise<number> {
  const done = await removeOld(deps);
  return done.some(({ more }) => more) ? 1000 : Number.POSITIVE_INFINITY;
}

interface Batch {
  readonly removed: number;
  readonly archived: number;
  readonly more: boolean;
  readonly isBusy?: boolean;
}

/** One transaction: what it removes is in storage before it commits. */
export async function removeBatch(
  deps: RetentionDeps,
  name: RetentionClass,
  again: boolean,
): Promise<Batch> {
  const leftBehind: string[] = [];
  const batch = await deps.db.transaction(async (tx): Promise<Batch> => {
    leftBehind.length = 0;
    const pass = await lockClass(tx, name);
    if (pass === undefined) return { removed: 0, archived: 0, more: true, isBusy: true };
    let place: Pass = pass;
    if (pass.after_job_id === null) {
      const isRecent = pass.hours_since !== null && pass.hours_since < hoursBetweenPasses;
      if (isRecent && !again) return { removed: 0, archived: 0, more: false };
      await startPass(tx, name);
      place = { after_created_at: null, after_job_id: null, hours_since: null };
    }
    return isJobClass(name)
      ? removeOfJobs(deps, tx, name, place, leftBehind)
      : removeTimed(deps, tx, name);
  });
  for (const jobId of leftBehind) await deleteValues(deps.storage, jobId);
  return batch;
}

async function removeOfJobs(
  { storage, settings, clock }: RetentionDeps,
  tx: Transaction,
  name: JobClass,
  pass: Pass,
  leftBehind: string[],
): Promise<Batch> {
  const { archive } = settings;
  const walked = await findOldJobs(tx, name, {
    days: settings.days[name],
    archive,
    pass,
    limit: mostJobs,
  });
  const jobs = withinWeight(walked);
  const ids = jobs.filter(({ may_go }) => may_go).map(({ job_id }) => job_id);
  let archived = 0;
  if (archive && ids.length > 0) {
    for await (const rows of readRowsOfJobs(tx, name, ids, mostRows)) {
      await archiveRows({ storage, tx }, name, clock.now().toISOString().slice(0, 10), rows);
      archived += rows.length;
    }
  }
  if (name === "jobs" && !archive && ids.length > 0) {
    leftBehind.push(...(await findJobsWithValues(tx, ids)));
    await forgetJobs(tx, ids);
  }
  const removed = ids.length === 0 ? 0 : await deleteRowsOfJobs(tx, name, ids);
  const place = jobs.at(-1);
  const more = place !== undefined;
  await advancePass(tx, name, { place, more, removed, archived });
  return { removed, archived, more };
}

/** The first jobs, up to the weight of a batch: at least one. */
function withinWeight(jobs: readonly OldJob[]): readonly OldJob[] {
  let weight = 0;
  const end = jobs.findIndex((job, index) => {
    weight += job.may_go ? job.weight : 0;
    return index > 0 && weight > mostRows;
  });
  return end === -1 ? jobs : jobs.slice(0, end);
}

async function removeTimed(
  { storage, settings, clock }: RetentionDeps,
  tx: Transaction,
  name: Exclude<RetentionClass, JobClass>,
): Promise<Batch> {
  const rows = await takeOldRows(tx, name, settings.days[name], mostRows);
  const archives = settings.archive && rows.length > 0;
  if (archives) {
    await archiveRows({ storage, tx }, name, clock.now().toISOString().slice(0, 10), rows);
  }
  const archived = archives ? rows.length : 0;
  const more = rows.length === mostRows;
  await advancePass(tx, name, { place: undefined, more, removed: rows.length, archived });
  return { removed: rows.length, archived, more };
}

/** Large values of a removed job; with an archive they stay, because its rows refer to them. */
async function deleteValues(storage: Storage, jobId: string): Promise<void> {
  const { items } = await storage.list(`results/${jobId}/`, { limit: 1000 });
  for (const { path } of items) await storage.delete(path);
}
