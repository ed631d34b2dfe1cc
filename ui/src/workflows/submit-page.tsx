import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link } from "wouter";
import { checkInputs } from "../../../src/core/dag/check-inputs.ts";
import type { JsonObject } from "../../../src/core/model/json.ts";
import { api, ApiError, errorText, session } from "../shared/api.ts";
import { commands } from "../shared/commands.ts";
import { CopyAs, curl } from "../shared/copy.tsx";
import { Icon } from "../shared/icon.tsx";
import { navigate, useSearchParams } from "../shared/navigation.ts";
import type { PageProps } from "../shared/page.tsx";
import { Card, Page } from "../shared/page.tsx";
import { Await } from "../shared/states.tsx";
import { useStore } from "../shared/store.ts";
import { TabPanel, Tabs } from "../shared/tabs.tsx";
import { showToast } from "../shared/toast.tsx";
import { DropZone } from "../files/drop-zone.tsx";
import { Inspection } from "../files/inspection.tsx";
import type { Recognised } from "../files/inspection.tsx";
import { splitPlace } from "../files/split-place.ts";
import { InputField } from "./input-field.tsx";
import { isSource, placeSource } from "./source-fields.ts";
import type { Declared, Draft, Problems } from "./submit-draft.ts";
import {
  draftKey,
  inOrder,
  hideSecrets,
  loadDraft,
  readDraft,
  saveDraft,
  startDraft,
  switchMode,
} from "./submit-draft.ts";

interface FormProps {
  readonly workflow: Awaited<ReturnType<typeof api.getWorkflow>>;
  readonly given: JsonObject;
  readonly from: string | undefined;
  readonly found: Recognised | undefined;
}

export default function SubmitPage({ params }: PageProps) {
  const workflowId = params["workflowId"] ?? "";
  // The job whose inputs fill the form.
  const search = useSearchParams();
  const from = search.get("from") ?? undefined;
  // The file in storage that the workflow was suggested for.
  const file = search.get("file") ?? undefined;
  const loaded = useQuery({
    queryKey: ["workflow", workflowId, "submit", from, file],
    queryFn: async ({ signal }) => {
      const [workflow, job, found] = await Promise.all([
        api.getWorkflow({ params: { workflow_id: workflowId }, signal }),
        from === undefined ? undefined : api.getJob({ params: { job_id: from }, signal }),
        file === undefined ? undefined : api.recogniseFile({ query: { path: file }, signal }),
      ]);
      return { workflow, given: job?.input_params ?? found?.inputs ?? {}, found };
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
        {({ workflow, given, found }) => (
          <SubmitForm
            key={file}
            workflow={workflow}
            given={given}
            from={from ?? file}
            found={found}
          />
        )}
      </Await>
    </Page>
  );
}

function SubmitForm({ workflow, given, from, found }: FormProps) {
  const { workflow_id } = workflow;
  const declared = workflow.inputs ?? undefined;
  const key = draftKey(useStore(session)?.name ?? "", workflow_id, from);
  const [draft, setDraft] = useState<Draft>(() => loadDraft(key) ?? startDraft(declared, given));
  const [problems, setProblems] = useState<Problems>(new Map());
  const [busy, setBusy] = useState(false);
  const [file, setFile] = useState(found);
  const form = useRef<HTMLFormElement>(null);

  // In an effect: the fields must have been rendered as wrong before one of them can be found.
  useEffect(() => {
    if (problems.size > 0) focusFirstWrong(form.current);
  }, [problems]);

  function change(next: Draft): void {
    setDraft(next);
    saveDraft(key, next, declared);
  }

  async function submit(): Promise<void> {
    const { inputs, problems: found } = readDraft(declared, draft);
    const wrong = found.size > 0 ? found : checkAll(declared, inputs);
    setProblems(wrong);
    if (wrong.size > 0) return;
    setBusy(true);
    try {
      const body = { workflow_id, inputs, priority: Number(draft.priority) };
      const { job_id } = await api.submitJob({ body });
      saveDraft(key, undefined);
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

  const written = hideSecrets(declared, readDraft(declared, draft).inputs);
  return (
    <form
      ref={form}
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {declared === undefined || !Object.keys(declared).some(isSource) ? null : (
        <DropZone
          folder="bronze/"
          onUploaded={(path) => {
            void suggest(workflow_id, path, (inputs, dropped) => {
              change({ ...startDraft(declared, inputs), priority: draft.priority });
              setFile(dropped);
            });
          }}
        >
          or drop a file here: the form is filled in for it
        </DropZone>
      )}
      {file === undefined ? null : (
        <Card title={file.path}>
          <Inspection file={file} />
        </Card>
      )}
      <div className="card">
        <Tabs
          label="How to give the inputs"
          panel="inputs"
          tabs={[
            ...(declared === undefined ? [] : [{ id: "form" as const, label: "Form" }]),
            { id: "json" as const, label: "JSON" },
          ]}
          selected={draft.mode}
          onSelect={(mode) => {
            if (mode === draft.mode) return;
            const switched = switchMode(declared, draft);
            setProblems(switched.problems);
            change(switched.draft);
          }}
        />
        <TabPanel id="inputs" selected={draft.mode}>
          <div className="card-body form">
            <Inputs declared={declared} draft={draft} problems={problems} onChange={change} />
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
            value={draft.priority}
            aria-invalid={problems.has("priority")}
            aria-describedby="priority-about"
            onChange={(event) => {
              change({ ...draft, priority: event.target.value });
            }}
          />
          <small
            id="priority-about"
            className={problems.has("priority") ? "error-text" : undefined}
          >
            {problems.get("priority") ?? "0 to 10; jobs with a higher priority go first."}
          </small>
        </label>
      </Card>
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
      <div className="row">
        <button className="button solid" type="submit" disabled={busy}>
          <Icon name="play" /> Submit
        </button>
        <button
          className="button"
          type="button"
          onClick={() => {
            setDraft(startDraft(declared, given));
            setProblems(new Map());
            saveDraft(key, undefined);
          }}
        >
          Start over
        </button>
        <CopyAs
          command={commands.submitJob(workflow_id, written)}
          request={curl("POST", "/api/v1/jobs", { workflow_id, inputs: written })}
        />
      </div>
    </form>
  );
}

function Inputs({
  declared,
  draft,
  problems,
  onChange,
}: {
  declared: Declared | undefined;
  draft: Draft;
  problems: Problems;
  onChange: (draft: Draft) => void;
}) {
  if (draft.mode === "json") {
    return (
      <label className="field">
        Inputs as JSON
        <textarea
          rows={14}
          spellCheck={false}
          value={draft.text}
          aria-invalid={problems.size > 0}
          aria-describedby="inputs-problem"
          onChange={(event) => {
            onChange({ ...draft, text: event.target.value });
          }}
        />
        <small id="inputs-problem" className="error-text">
          {[...problems.values()].join(" ")}
        </small>
      </label>
    );
  }
  const fields = inOrder(declared ?? {});
  if (fields.length === 0) return <p className="dim">This workflow takes no inputs.</p>;
  return fields.map(([name, declaration]) => (
    <InputField
      key={name}
      name={name}
      declaration={declaration}
      value={draft.fields[name] ?? ""}
      problem={problems.get(name)}
      onChange={(value) => {
        onChange({ ...draft, fields: { ...draft.fields, [name]: value } });
      }}
      onChoose={(path) => {
        onChange({ ...draft, fields: { ...draft.fields, ...placeSource(declared, name, path) } });
      }}
    />
  ));
}

/** Fills the form for an uploaded file, or goes to the workflow that fits it better. */
async function suggest(
  workflowId: string,
  path: string,
  fill: (inputs: JsonObject, found: Recognised) => void,
): Promise<void> {
  try {
    const found = await api.recogniseFile({ query: { path } });
    if (found.workflow_id === null || found.workflow_id === workflowId) {
      const { container, blob_path } = splitPlace(path);
      fill(found.workflow_id === null ? { container, blob_path } : found.inputs, found);
      showToast(`${path} is ${found.format}.`);
      return;
    }
    showToast(`${path} is ${found.format}: ${found.workflow_id} fits it.`);
    const form = `/workflows/${encodeURIComponent(found.workflow_id)}/submit`;
    navigate(`${form}?file=${encodeURIComponent(path)}`);
  } catch (error) {
    showToast(errorText(error), "bad");
  }
}

function checkAll(declared: Declared | undefined, inputs: JsonObject): Problems {
  const checked = checkInputs({ inputs: declared }, inputs);
  if (checked.ok) return new Map();
  return new Map(checked.problems.map(({ pointer, message }) => [nameAt(pointer), message]));
}

/** Focusing also scrolls: the error stands below the field. */
function focusFirstWrong(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}

function nameAt(pointer: string): string {
  const [name = ""] = pointer.slice(1).split("/");
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}
