import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { checkInputs } from "../../../src/core/dag/check-inputs.ts";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";
import { isJsonObject } from "../../../src/core/model/json.ts";
import { api, ApiError, errorText } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { CopyAs, curl } from "../shared/copy.tsx";
import { Icon } from "../shared/icon.tsx";
import { readObject } from "../shared/json-view.tsx";
import { navigate, useSearchParams } from "../shared/navigation.ts";
import type { PageProps } from "../shared/page.tsx";
import { Card, Page } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { TabPanel, Tabs } from "../shared/tabs.tsx";
import { showToast } from "../shared/toast.tsx";
import { InputField, readField, writeField } from "./input-field.tsx";

type Workflow = Awaited<ReturnType<typeof api.getWorkflow>>;

export default function SubmitPage({ params }: PageProps) {
  const workflowId = params["workflowId"] ?? "";
  // The job whose inputs fill the form.
  const from = useSearchParams().get("from") ?? undefined;
  const loaded = useQuery({
    queryKey: ["workflow", workflowId, "submit", from],
    queryFn: async ({ signal }) => {
      const [workflow, job] = await Promise.all([
        api.getWorkflow({ params: { workflow_id: workflowId }, signal }),
        from === undefined ? undefined : api.getJob({ params: { job_id: from }, signal }),
      ]);
      return { workflow, given: job?.input_params ?? {} };
    },
  });
  return (
    <Page
      title={`Submit ${workflowId}`}
      heading={
        <>
          Submit <Link to={`/workflows/${encodeURIComponent(workflowId)}`}>{workflowId}</Link>
        </>
      }
    >
      <Await query={loaded} what="the workflow">
        {({ workflow, given }) => <SubmitForm workflow={workflow} given={given} />}
      </Await>
    </Page>
  );
}

type Mode = "form" | "json";

function SubmitForm({ workflow, given }: { workflow: Workflow; given: JsonObject }) {
  const declared = workflow.inputs ?? undefined;
  const [mode, setMode] = useState<Mode>(declared === undefined ? "json" : "form");
  const [fields, setFields] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(
      Object.entries(declared ?? {}).map(([name, input]) => [
        name,
        writeField(Object.hasOwn(given, name) ? given[name] : input.default),
      ]),
    ),
  );
  const [text, setText] = useState(() => JSON.stringify(given, null, 2));
  const [priority, setPriority] = useState("0");
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const [busy, setBusy] = useState(false);

  function readInputs(): JsonObject | undefined {
    const found = new Map<string, string>();
    const inputs: [string, Json][] = [];
    if (mode === "json") {
      try {
        const value: unknown = JSON.parse(text);
        if (isJsonObject(value)) inputs.push(...Object.entries(value));
        else found.set("", "The inputs must be one JSON object: { … }.");
      } catch (error) {
        found.set("", `This is not JSON: ${errorText(error)}`);
      }
    } else {
      for (const [name, declaration] of Object.entries(declared ?? {})) {
        const field = readField(declaration.type, fields[name] ?? "");
        if (field.problem !== undefined) found.set(name, field.problem);
        else if (field.value !== undefined) inputs.push([name, field.value]);
      }
    }
    const read: JsonObject = Object.fromEntries(inputs);
    if (found.size === 0) {
      const checked = checkInputs({ inputs: declared }, read);
      if (!checked.ok) {
        for (const { pointer, message } of checked.problems) found.set(nameAt(pointer), message);
      }
    }
    setProblems(found);
    return found.size === 0 ? read : undefined;
  }

  async function submit(): Promise<void> {
    const inputs = readInputs();
    if (inputs === undefined) return;
    setBusy(true);
    try {
      const body = { workflow_id: workflow.workflow_id, inputs, priority: Number(priority) };
      const { job_id } = await api.submitJob({ body });
      navigate(`/jobs/${encodeURIComponent(job_id)}`);
    } catch (error) {
      if (error instanceof ApiError && error.items.length > 0) {
        setProblems(
          new Map(
            error.items.map((item) => [nameAt(item.pointer.replace("/inputs", "")), item.message]),
          ),
        );
      } else showToast(errorText(error), "bad");
    } finally {
      setBusy(false);
    }
  }

  function switchMode(next: Mode): void {
    if (next === "json") {
      setText(JSON.stringify(fieldsAsInputs(declared, fields), null, 2));
    }
    setProblems(new Map());
    setMode(next);
  }

  const written = mode === "json" ? (readObject(text) ?? {}) : fieldsAsInputs(declared, fields);
  return (
    <form
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div className="card">
        <Tabs
          label="How to give the inputs"
          panel="inputs"
          tabs={[
            ...(declared === undefined ? [] : [{ id: "form" as const, label: "Form" }]),
            { id: "json" as const, label: "JSON" },
          ]}
          selected={mode}
          onSelect={switchMode}
        />
        <TabPanel id="inputs" selected={mode}>
          <div className="card-body form">
            {problems.size === 0 ? null : (
              <div className="failure" role="alert">
                <Icon name="warning" />
                <div>
                  <strong>Nothing was submitted.</strong>
                  <ul>
                    {[...problems].map(([name, message]) => (
                      <li key={name}>{message}</li>
                    ))}
                  </ul>
                </div>
              </div>
            )}
            {mode === "json" ? (
              <label className="field">
                Inputs as JSON
                <textarea
                  rows={14}
                  spellCheck={false}
                  value={text}
                  onChange={(event) => {
                    setText(event.target.value);
                  }}
                />
              </label>
            ) : (
              Object.entries(declared ?? {}).map(([name, declaration]) => (
                <InputField
                  key={name}
                  name={name}
                  declaration={declaration}
                  value={fields[name] ?? ""}
                  problem={problems.get(name)}
                  onChange={(value) => {
                    setFields({ ...fields, [name]: value });
                  }}
                />
              ))
            )}
            {mode === "form" && Object.keys(declared ?? {}).length === 0 ? (
              <p className="dim">This workflow takes no inputs.</p>
            ) : null}
          </div>
        </TabPanel>
      </div>
      <Card title="Options">
        <label className="field">
          Priority
          <input
            type="number"
            min={0}
            max={10}
            value={priority}
            onChange={(event) => {
              setPriority(event.target.value);
            }}
          />
          <small>0 to 10; jobs with a higher priority go first.</small>
        </label>
      </Card>
      <div className="row">
        <button className="button solid" type="submit" disabled={busy}>
          <Icon name="play" /> Submit
        </button>
        <CopyAs
          command={commands.submitJob(workflow.workflow_id, written)}
          request={curl("POST", "/api/v1/jobs", {
            workflow_id: workflow.workflow_id,
            inputs: written,
          })}
        />
      </div>
    </form>
  );
}

function fieldsAsInputs(
  declared: Workflow["inputs"] | undefined,
  fields: Readonly<Record<string, string>>,
): JsonObject {
  return Object.fromEntries(
    Object.entries(declared ?? {}).flatMap(([name, { type }]) => {
      const { value } = readField(type, fields[name] ?? "");
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function nameAt(pointer: string): string {
  return pointer.slice(1).replaceAll("~1", "/").replaceAll("~0", "~");
}
