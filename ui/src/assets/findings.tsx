import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { z } from "zod";
import type { AssetVersion } from "../../../src/core/api/asset-schemas.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import { api } from "../shared/api.ts";
import { short } from "../shared/format.ts";
import { Card } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";

/** The parts that findings of rasters and of vectors have in common. */
const finding = z.object({
  code: z.string(),
  message: z.string(),
  severity: z.string().optional(),
  remedy: z.string().optional(),
});

interface Shown {
  readonly key: string;
  readonly kind: string;
  readonly text: string;
  readonly where: string;
  readonly remedy?: string | undefined;
}

/** The findings in the result of the job, then the warnings that its handlers logged. */
export function Findings({
  version,
  result,
}: {
  version: AssetVersion;
  result: JsonObject | null;
}) {
  const { current_job_id } = version;
  const logged = useQuery({
    queryKey: ["job-warnings", current_job_id],
    queryFn: async ({ signal }): Promise<Shown[]> => {
      if (current_job_id === null) return [];
      const { items } = await api.listJobLogs({
        params: { job_id: current_job_id },
        query: { level: "warn", limit: 100 },
        signal,
      });
      return items.map(({ log_id, level, message, node_id }) => ({
        key: `log ${log_id}`,
        kind: level,
        text: message,
        where: node_id,
      }));
    },
  });
  return (
    <Card
      title="Findings"
      aside={
        current_job_id === null ? null : (
          <Link to={`/jobs/${encodeURIComponent(current_job_id)}`}>
            Job <code>{short(current_job_id)}</code>
          </Link>
        )
      }
    >
      <Await query={logged} what="the findings">
        {(lines) => {
          const all = [...findingsOf(result), ...lines];
          if (all.length === 0)
            return <p className="dim">Nothing was found wrong with the data.</p>;
          return all.map(({ key, kind, text, where, remedy }) => (
            <div key={key} className="finding">
              <strong className={/error|reject/.test(kind) ? "error-text" : ""}>{kind}</strong>
              <span>
                {text} {remedy} <span className="dim">{where}</span>
              </span>
            </div>
          ));
        }}
      </Await>
    </Card>
  );
}

function findingsOf(result: JsonObject | null): Shown[] {
  const parsed = z.array(finding).safeParse(result?.["findings"]);
  return (parsed.data ?? []).map(({ code, message, remedy, severity = "info" }, at) => ({
    key: `finding ${at}`,
    kind: severity,
    text: message,
    where: code,
    remedy,
  }));
}
