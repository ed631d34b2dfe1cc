/** Evaluates an expression with the data of this job, by the same code that the engine runs. */
import { useState } from "react";
import type { Job } from "../../../../src/core/api/job-schemas.ts";
import type { TemplateContext } from "../../../../src/core/dag/language/expression/scope.ts";
import { parseTemplate, render } from "../../../../src/core/dag/language/template.ts";
import type { Json, JsonObject } from "../../../../src/core/model/json.ts";
import { api, errorText } from "../../shared/api.ts";
import { JsonView } from "../../shared/json-view.tsx";

export default function ExpressionTester({
  job,
  node,
}: {
  job: Job;
  node: { readonly node_id: string; readonly fan_out_index: number | null };
}) {
  const [text, setText] = useState(`{{ nodes.${node.node_id}.status }}`);
  const [answer, setAnswer] = useState<{ value: Json } | { problem: string }>();

  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void evaluate(job, node.fan_out_index, text).then(setAnswer, (error: unknown) => {
          setAnswer({ problem: errorText(error) });
        });
      }}
    >
      <label className="field">
        Expression
        <textarea
          rows={4}
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        <small>
          <code>inputs</code>, <code>job</code> and <code>nodes.NAME.output</code> are those of this
          job. Nothing is changed.
        </small>
      </label>
      <div>
        <button className="button solid" type="submit">
          Evaluate
        </button>
      </div>
      <div aria-live="polite">
        {answer === undefined ? null : "problem" in answer ? (
          <p className="error-text">{answer.problem}</p>
        ) : (
          <JsonView value={answer.value ?? "null"} label="value" />
        )}
      </div>
    </form>
  );
}

async function evaluate(
  job: Job,
  index: number | null,
  text: string,
): Promise<{ value: Json } | { problem: string }> {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return { problem: parsed.problems.map(({ message }) => message).join("; ") };
  // Outputs may be large, so only those of the nodes in the expression are read.
  const names = new Set(
    parsed.template.references.flatMap(({ root, path: [first] }) =>
      root === "nodes" && typeof first === "string" ? [first] : [],
    ),
  );
  const known = job.nodes.filter(({ node_id }) => names.has(node_id));
  const entries = await Promise.all(
    known.map(async ({ node_id }): Promise<[string, JsonObject]> => {
      const { output, status } = await api.getNode({ params: { job_id: job.job_id, node_id } });
      return [node_id, output === null ? { status } : { output, status }];
    }),
  );
  const nodes = new Map(entries);
  const context: TemplateContext = {
    inputs: job.input_params,
    job: {
      job_id: job.job_id,
      workflow_id: job.workflow_id,
      workflow_version: job.workflow_version,
      correlation_id: job.correlation_id,
      submitted_by: job.submitted_by,
      priority: job.priority,
    },
    env: {},
    ...(index === null ? {} : { index }),
    node: (id) => nodes.get(id),
  };
  const rendered = render(parsed.template, context);
  return rendered.ok ? { value: rendered.value } : { problem: rendered.message };
}
