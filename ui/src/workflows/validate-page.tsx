import { useState } from "react";
import { LazyFlow } from "../graph/lazy-flow.tsx";
import { api, errorText } from "../shared/api.ts";
import { plural } from "../shared/format.ts";
import { Icon } from "../shared/icon.tsx";
import { Card, Page } from "../shared/page.tsx";
import { Chip } from "../shared/status.tsx";

type Validation = Awaited<ReturnType<typeof api.validateWorkflow>>;

const example = `name: My workflow
inputs:
  name:
    default: World

nodes:
  greet:
    handler: hello_world
    params:
      name: "{{ inputs.name }}"
`;

/** Checks the text of a definition and lists every finding with its line. Nothing is stored. */
export default function ValidatePage() {
  const [text, setText] = useState(example);
  const [result, setResult] = useState<Validation>();
  const [problem, setProblem] = useState("");

  async function check(): Promise<void> {
    setProblem("");
    try {
      setResult(await api.validateWorkflow({ body: { text, workflow_id: "untitled" } }));
    } catch (error) {
      setProblem(errorText(error));
    }
  }

  function jump(line: number): void {
    const area = document.getElementById("definition-text");
    if (!(area instanceof HTMLTextAreaElement)) return;
    const lines = text.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  }

  return (
    <Page
      title="Check a definition"
      actions={
        <button className="button solid" onClick={() => void check()}>
          <Icon name="check" /> Check
        </button>
      }
    >
      <div className="editor">
        <label className="field">
          Definition, as YAML or JSON
          <textarea
            id="definition-text"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
            }}
          />
        </label>
        <div className="stack" aria-live="polite">
          {problem === "" ? null : <p className="error-text">{problem}</p>}
          {result === undefined ? (
            <p className="dim">
              Press Check to find unknown handlers, unreachable nodes and references to missing
              nodes, each with its line. Nothing is stored.
            </p>
          ) : (
            <Card
              title="Findings"
              aside={
                <Chip
                  status={result.valid ? "ok" : "failed"}
                  text={result.valid ? "valid" : "not valid"}
                />
              }
            >
              {result.findings.length === 0 ? (
                <p>No findings.</p>
              ) : (
                <>
                  <p className="dim">{plural(result.findings.length, "finding")}</p>
                  {result.findings.map((finding, at) => (
                    <div key={at} className="finding">
                      <button
                        className="link"
                        onClick={() => {
                          jump(finding.line);
                        }}
                      >
                        {finding.line}:{finding.column}
                      </button>
                      <span>
                        <strong className={finding.severity === "error" ? "error-text" : ""}>
                          {finding.severity}
                        </strong>{" "}
                        {finding.message} <code className="dim">{finding.code}</code>
                      </span>
                    </div>
                  ))}
                </>
              )}
            </Card>
          )}
          {result?.graph == null ? null : (
            <div className="card">
              <LazyFlow graph={result.graph} />
            </div>
          )}
        </div>
      </div>
    </Page>
  );
}
