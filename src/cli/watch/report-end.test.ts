import { describe, expect, it } from "vitest";
import type { Job } from "../../core/api/job-schemas.ts";
import type { TaskError } from "../../core/model/task.ts";
import { adviceFor } from "./report-end.ts";

function failed(error: TaskError | null, jobError: string | null = null): Job {
  const nodes = error === null ? [] : [{ node_id: "a", status: "failed", error }];
  const own = jobError === null ? null : { code: jobError, message: "", node_id: null };
  return { job_id: "j1", status: "failed", error: own, nodes } as unknown as Job;
}

function error(over: Partial<TaskError>): TaskError {
  return { code: "BOOM", message: "boom", category: "transient", ...over };
}

describe("the advice after a failed job", () => {
  it("is a retry when the failure was temporary", () => {
    expect(adviceFor(failed(error({})))).toMatch(/jobs retry j1$/);
    expect(adviceFor(failed(null, "LEASE_LOST"))).toMatch(/jobs retry j1$/);
  });

  it("is to correct the workflow when the definition failed", () => {
    for (const code of ["TEMPLATE_FAILED", "CONDITION_FAILED", "FAN_OUT_SOURCE"]) {
      const advice = adviceFor(failed(error({ code, category: "permanent" })));
      expect(advice).toMatch(/^Correct the workflow.*jobs retry j1 --latest$/);
    }
    expect(adviceFor(failed(null, "OUTPUTS_FAILED"))).toMatch(/^Correct the workflow/);
  });

  it("is no plain retry when the error is permanent", () => {
    expect(adviceFor(failed(error({ category: "permanent" })))).toMatch(/would fail again/);
  });

  it("follows the errors of the children when a fan-out failed", () => {
    const budget = (category: string) =>
      error({
        code: "FAN_OUT_BUDGET",
        category: "permanent",
        details: { first_errors: [{ node_id: "a__0", code: "BOOM", message: "", category }] },
      });
    expect(adviceFor(failed(budget("transient")))).toMatch(/jobs retry j1$/);
    expect(adviceFor(failed(budget("permanent")))).toMatch(/would fail again/);
  });
});
