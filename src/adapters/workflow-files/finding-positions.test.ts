import { describe, expect, it } from "vitest";
import { compile } from "../../core/dag/compile/compile.ts";
import type { FindingCode } from "../../core/dag/finding.ts";
import { findingCodes } from "../../core/dag/finding.ts";
import { handlerCatalogue } from "../../core/handlers/index.ts";
import { taskQueues } from "../../core/queues.ts";
import { readWorkflow } from "./read-workflow.ts";

/** `line:column CODE` of everything that is wrong with a text, as `validate` would print it. */
function check(text: string): string[] {
  const source = readWorkflow(text);
  const compiled =
    source.tree === undefined
      ? []
      : compile(source.tree, {
          handlers: handlerCatalogue,
          queues: new Set(taskQueues),
          env: new Set(["REGION"]),
          workflowId: "test",
        }).findings;
  return [...source.findings, ...compiled].map((finding) => {
    const { line, column } = source.locate(finding);
    return `${line}:${column} ${finding.code} ${finding.severity}: ${finding.message}`;
  });
}

function wide(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("\n");
}

interface Case {
  readonly text: string;
  /** Start of each line of output. */
  readonly expected: readonly string[];
}

/** These two come from the loader, and no text within the size limit holds too many values. */
type Elsewhere = "FILE_UNREADABLE" | "DUPLICATE_WORKFLOW" | "TOO_LARGE";

const cases: Record<Exclude<FindingCode, Elsewhere>, Case> = {
  YAML_SYNTAX: { text: "nodes:\n  a: {handler: echo\n", expected: ["3:1 YAML_SYNTAX error"] },
  YAML_DUPLICATE_KEY: {
    text: "nodes:\n  a: {handler: echo}\n  a: {handler: echo}\n",
    expected: ['3:3 YAML_DUPLICATE_KEY error: "a" is already in this mapping'],
  },
  YAML_ALIAS_LIMIT: {
    text: [
      "a: &a [x, x, x, x, x, x, x, x, x, x]",
      "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]",
      "c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]",
      "d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]",
      "e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]",
      "f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]",
    ].join("\n"),
    expected: ["5:36 YAML_ALIAS_LIMIT error: aliases stand for more than 100000 values"],
  },
  YAML_UNSUPPORTED: {
    text: "nodes:\n  a: {handler: !secret echo}\n",
    expected: ["2:24 YAML_UNSUPPORTED error: the tag !secret is not supported"],
  },
  FILE_TOO_LARGE: {
    text: "#".repeat(1024 * 1024 + 1),
    expected: ["1:1 FILE_TOO_LARGE error: 1048577 bytes; a workflow may have at most 1048576"],
  },
  TOO_DEEP: { text: `a: ${"[".repeat(70)}${"]".repeat(70)}`, expected: ["1:68 TOO_DEEP error"] },
  TOO_MANY_NODES: {
    text: `nodes:\n${wide(50_001, (index) => ` n${index}: {}`)}`,
    expected: ["1:1 TOO_MANY_NODES error: 50001 nodes; a workflow may have at most 50000"],
  },
  WRONG_TYPE: {
    text: "nodes:\n  a:\n    handler: echo\n    timeout_seconds: soon\n",
    expected: ['4:22 WRONG_TYPE error: expected a number, got "soon"'],
  },
  WRONG_VALUE: {
    text: "nodes:\n  a:\n    type: taks\n    handler: echo\n",
    expected: [
      '3:11 WRONG_VALUE error: type must be start, end, task, conditional, fan_out, fan_in; did you mean "task"?',
    ],
  },
  MISSING_KEY: {
    text: "nodes:\n  a:\n    queue: container-tasks\n",
    expected: ['2:3 MISSING_KEY error: "handler" is missing'],
  },
  UNKNOWN_KEY: {
    text: "nodes:\n  a:\n    handler: echo\n    timeout_second: 5\n",
    expected: [
      '4:5 UNKNOWN_KEY error: "timeout_second" is not known here; did you mean "timeout_seconds"?',
    ],
  },
  NO_NODES: { text: "nodes: {}\n", expected: ["1:8 NO_NODES error"] },
  SEVERAL_STARTS: {
    text: "nodes:\n  a: {type: start, next: c}\n  b: {type: start, next: c}\n  c: {handler: echo}\n",
    expected: ['3:3 SEVERAL_STARTS error: "b" is a second start node; "a" is the first'],
  },
  UNKNOWN_NODE: {
    text: "nodes:\n  first:\n    handler: echo\n    next: [secnd]\n  second: {handler: echo}\n",
    expected: ['4:12 UNKNOWN_NODE error: there is no node "secnd"; did you mean "second"?'],
  },
  SELF_EDGE: {
    text: "nodes:\n  a:\n    handler: echo\n    depends_on: {all_of: [a]}\n",
    expected: ['4:27 SELF_EDGE error: "a" cannot follow itself'],
  },
  CYCLE: {
    text: [
      "nodes:",
      "  a: {handler: echo, next: b}",
      "  b: {handler: echo, next: [c]}",
      "  c: {handler: echo, next: a}",
    ].join("\n"),
    expected: ["4:28 CYCLE error: the nodes form a cycle: a → b → c → a"],
  },
  UNREACHABLE: {
    text: "nodes:\n  go: {type: start, next: a}\n  a: {handler: echo}\n  b: {handler: echo, next: a}\n",
    expected: ['4:3 UNREACHABLE error: "b" cannot be reached from the start'],
  },
  CONDITIONAL_FORM: {
    text: 'nodes:\n  a: {handler: echo, next: c}\n  c:\n    type: conditional\n    condition: "{{ inputs.x }} > 1"\n',
    expected: ["3:3 CONDITIONAL_FORM error: `condition` needs `on_true` or `on_false`"],
  },
  MAY_BE_SKIPPED: {
    text: [
      "nodes:",
      '  c: {type: conditional, condition: "1 == 2", on_true: a}',
      "  a: {handler: echo}",
      "outputs:",
      '  x: "is {{ nodes.a.output }}"',
    ].join("\n"),
    expected: ['5:13 MAY_BE_SKIPPED warning: "a" may be skipped'],
  },
  MAY_BE_MISSING: {
    text: 'inputs: {x: }\nnodes:\n  a: {handler: echo, params: {y: "{{ inputs.x }}"}}\n',
    expected: ['3:38 MAY_BE_MISSING warning: input "x" is optional and has no default'],
  },
  NO_DEFAULT_BRANCH: {
    text: [
      "nodes:",
      "  c:",
      "    type: conditional",
      '    condition_field: "{{ inputs.x }}"',
      "    branches:",
      '      - {condition: "< 1", next: END}',
    ].join("\n"),
    expected: ['5:5 NO_DEFAULT_BRANCH warning: "c" has no default branch'],
  },
  UNREACHABLE_BRANCH: {
    text: [
      "nodes:",
      "  c:",
      "    type: conditional",
      '    condition_field: "{{ inputs.x }}"',
      "    branches:",
      "      - {default: true, next: END}",
      '      - {condition: "< 1", next: END}',
    ].join("\n"),
    expected: ["7:9 UNREACHABLE_BRANCH error: this branch is never taken"],
  },
  CONDITION_SYNTAX: {
    text: 'nodes:\n  c:\n    type: conditional\n    condition: "{{ inputs.x }} >"\n    on_true: END\n',
    expected: ["4:33 CONDITION_SYNTAX error"],
  },
  TEMPLATE_SYNTAX: {
    text: 'nodes:\n  a:\n    handler: echo\n    params:\n      text: "is {{ inputs.x | shout }}"\n',
    expected: ["5:31 TEMPLATE_SYNTAX error"],
  },
  UNKNOWN_REFERENCE: {
    text: "nodes:\n  a:\n    handler: echo\n    params: {v: 'x {{ item }}', w: '{{ job.id }}'}\n",
    expected: [
      "4:23 UNKNOWN_REFERENCE error: `item` exists only in the params of a fan-out's task",
      '4:40 UNKNOWN_REFERENCE error: a job has no "id"; it has job_id, workflow_id',
    ],
  },
  UNKNOWN_INPUT: {
    text: 'inputs:\n  size: {type: number}\nnodes:\n  a:\n    handler: echo\n    params:\n      v: "{{ inputs.sise }}"\n',
    expected: ['7:14 UNKNOWN_INPUT error: input "sise" is not declared; did you mean "size"?'],
  },
  NOT_AN_ANCESTOR: {
    text: [
      "nodes:",
      "  a:",
      "    handler: echo",
      '    params: {v: "{{ nodes.b.output.x }}"}',
      "    next: b",
      "  b: {handler: echo}",
    ].join("\n"),
    expected: ['4:21 NOT_AN_ANCESTOR error: "b" does not come before "a"'],
  },
  ENV_NOT_ALLOWED: {
    text: 'nodes:\n  a:\n    handler: echo\n    params:\n      ok: "{{ env.REGION }}"\n      v: "{{ env.PASSWORD }}"\n',
    expected: ["6:14 ENV_NOT_ALLOWED error: env.PASSWORD is not on the allow-list"],
  },
  UNKNOWN_HANDLER: {
    text: "nodes:\n  a: {handler: ehco}\n",
    expected: ['2:16 UNKNOWN_HANDLER error: no handler "ehco"; did you mean "echo"?'],
  },
  UNKNOWN_QUEUE: {
    text: "nodes:\n  a:\n    handler: echo\n    queue: container-task\n",
    expected: [
      '4:12 UNKNOWN_QUEUE error: no queue "container-task"; did you mean "container-tasks"?',
    ],
  },
  WRONG_PARAMETER: {
    text: "nodes:\n  a:\n    handler: fail\n    params:\n      category: fatal\n",
    expected: ["5:17 WRONG_PARAMETER error: fail: must be permanent, transient, throttling"],
  },
  MISSING_PARAMETER: {
    text: "nodes:\n  a:\n    handler: stac.find_item\n    params:\n      collection_id: c\n",
    expected: ['4:5 MISSING_PARAMETER error: stac.find_item: "item_id" is missing'],
  },
  UNKNOWN_PARAMETER: {
    text: "nodes:\n  a:\n    handler: sleep\n    params:\n      second: 3\n",
    expected: [
      '5:7 UNKNOWN_PARAMETER error: sleep: "second" is not known here; did you mean "seconds"?',
    ],
  },
  WRONG_INPUT: {
    text: "inputs:\n  n:\n    type: integer\n    default: many\nnodes:\n  a: {handler: echo}\n",
    expected: ['4:14 WRONG_INPUT error: the default must be an integer, not "many"'],
  },
  UNUSED_DEFAULT: {
    text: "inputs:\n  n:\n    required: true\n    default: x\nnodes:\n  a: {handler: echo}\n",
    expected: ['4:5 UNUSED_DEFAULT warning: "n" is required, so its default is never used'],
  },
  FAN_IN_WITHOUT_FAN_OUT: {
    text: "nodes:\n  a: {handler: echo, next: b}\n  b:\n    type: fan_in\n    max_failures: 2\n",
    expected: ["5:5 FAN_IN_WITHOUT_FAN_OUT warning: max_failures has no effect"],
  },
};

describe("each finding stands at its line and column", () => {
  it.each(Object.entries(cases))("%s", (_, each) => {
    const found = check(each.text);
    expect(found.map((line, index) => line.slice(0, each.expected[index]?.length))).toEqual(
      each.expected,
    );
  });

  it("have a case for every code but three", () => {
    const missing = Object.keys(findingCodes).filter((code) => !Object.hasOwn(cases, code));
    expect(missing).toEqual(["FILE_UNREADABLE", "TOO_LARGE", "DUPLICATE_WORKFLOW"]);
  });
});

describe("findings together", () => {
  it("all come at once, and a broken node hides none of the others", () => {
    const found = check(
      [
        "nodes:",
        "  a:",
        "    handler: ehco",
        "    retry: {max_attempts: -1}",
        "    next: [b, nowhere]",
        "  b: 7",
        "  c:",
        "    handler: echo",
        '    params: {v: "{{ inputs.x", w: "{{ nodes.d.output }}"}',
      ].join("\n"),
    );
    expect(found.map((line) => line.split(" ").slice(0, 2).join(" ")).sort()).toEqual([
      "3:14 UNKNOWN_HANDLER",
      "4:27 WRONG_VALUE",
      "5:15 UNKNOWN_NODE",
      "6:3 WRONG_TYPE",
      "9:18 TEMPLATE_SYNTAX",
      "9:39 UNKNOWN_NODE",
    ]);
  });

  it("name the line of a literal beside a template, and leave the template alone", () => {
    const found = check(
      [
        "nodes:",
        "  a:",
        "    handler: raster.process_tile",
        "    params:",
        '      blob_path: "{{ inputs.path }}"',
        "      tile_index: first",
        "      tile:",
        '        index: "{{ inputs.index }}"',
        "        window: [0, 0, wide, 1]",
      ].join("\n"),
    );
    expect(found).toEqual([
      '9:24 WRONG_PARAMETER error: raster.process_tile: expected a number, got "wide"',
      '6:19 WRONG_PARAMETER error: raster.process_tile: expected a number, got "first"',
    ]);
  });
});
