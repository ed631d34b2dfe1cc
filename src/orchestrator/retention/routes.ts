import type { Handlers } from "../../adapters/http/handler.ts";
import { isoOrNull } from "../../adapters/postgres/queries/conditions.ts";
import { planClass, readRetentionTotals } from "../../adapters/postgres/queries/retention.ts";
import type { retentionContracts } from "../../core/api/retention.ts";
import { retentionClass } from "../../core/retention/classes.ts";
import type { RetentionDeps } from "./remove-old.ts";
import { removeOld } from "./remove-old.ts";

export interface RetentionRouteDeps {
  readonly retention: RetentionDeps;
}

export function retentionRoutes({
  retention,
}: RetentionRouteDeps): Handlers<typeof retentionContracts> {
  const { db, settings } = retention;
  return {
    getRetention: async () => {
      const totals = await readRetentionTotals(db);
      const classes = [];
      for (const name of retentionClass.options) {
        const total = totals.find((each) => each.class === name);
        classes.push({
          ...(await planClass(db, name, settings)),
          removed_rows: total?.removed_rows ?? 0,
          archived_rows: total?.archived_rows ?? 0,
          archive_files: total?.files ?? 0,
          archive_bytes: total?.bytes ?? 0,
          last_pass_at: isoOrNull(total?.pass_finished_at ?? null),
        });
      }
      return { archive: settings.archive, classes };
    },
    runRetention: async ({ body: { classes, again } }) => ({
      classes: [
        ...(await removeOld(retention, { ...(classes === undefined ? {} : { classes }), again })),
      ],
    }),
  };
}
