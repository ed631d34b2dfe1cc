import { didYouMean } from "../suggest.ts";
import type { AncestorQuestion } from "./ancestors.ts";
import { isAncestor } from "./ancestors.ts";
import type { Finding, FindingCode } from "../finding.ts";
import { errorAt } from "../finding.ts";
import type { Links } from "../source/links.ts";
import type { PlacedReference } from "./templates.ts";
import type { Source } from "../source/read-source.ts";

interface Surroundings {
  readonly source: Source;
  readonly links: Links;
  /** Topological; nodes on a cycle or behind one are not in it. */
  readonly order: readonly number[];
  readonly env: ReadonlySet<string>;
}

const roots = ["inputs", "nodes", "upstream", "item", "index", "job", "env"];
const members = ["output", "status"];

/** What templates can read of their job. */
const jobMembers = [
  "job_id",
  "workflow_id",
  "workflow_version",
  "correlation_id",
  "submitted_by",
  "priority",
] as const;
export type JobMember = (typeof jobMembers)[number];

/** Checks that every reference can have a value when its template is rendered. */
export function lintReferences(
  references: readonly PlacedReference[],
  { source, links, order, env }: Surroundings,
  findings: Finding[],
): void {
  const questions: (AncestorQuestion & { placed: PlacedReference })[] = [];

  for (const placed of references) {
    const { reference, node, perItem } = placed;
    const { root, path } = reference;
    const [first, second] = path;
    switch (root) {
      case "inputs":
        if (source.inputs === undefined || first === undefined) break;
        if (!source.inputs.has(String(first))) {
          const hint = didYouMean(String(first), source.inputs.keys());
          report(placed, "UNKNOWN_INPUT", `input "${String(first)}" is not declared${hint}`);
        }
        break;
      case "nodes": {
        if (first === undefined) break;
        const target = links.index.get(String(first));
        if (target === undefined) {
          const hint = didYouMean(String(first), links.ids);
          report(placed, "UNKNOWN_NODE", `there is no node "${String(first)}"${hint}`);
          break;
        }
        if (second !== undefined && !members.includes(String(second))) {
          const hint = didYouMean(String(second), members) || "; it has output and status";
          const message = `a node has no "${String(second)}"${hint}`;
          report(placed, "UNKNOWN_REFERENCE", message);
        }
        const from = node === undefined ? undefined : links.index.get(node);
        if (from !== undefined) questions.push({ ancestor: target, node: from, placed });
        break;
      }
      case "item":
      case "index":
        if (!perItem) {
          const message = `\`${root}\` exists only in the params of a fan-out's task`;
          report(placed, "UNKNOWN_REFERENCE", message);
        }
        break;
      case "env":
        if (first !== undefined && !env.has(String(first))) {
          const name = String(first);
          const message = `env.${name} is not on the allow-list: add it to RMHDAG_TEMPLATE_ENV`;
          report(placed, "ENV_NOT_ALLOWED", message);
        }
        break;
      case "upstream":
        if (node === undefined) {
          const message = "`upstream` exists only in a node; the outputs name nodes";
          report(placed, "UNKNOWN_REFERENCE", message);
        }
        break;
      case "job":
        if (first !== undefined && !jobMembers.some((member) => member === first)) {
          const hint = didYouMean(String(first), jobMembers) || `; it has ${jobMembers.join(", ")}`;
          report(placed, "UNKNOWN_REFERENCE", `a job has no "${String(first)}"${hint}`);
        }
        break;
      default: {
        const hint = didYouMean(root, roots) || `; known: ${roots.join(", ")}`;
        report(placed, "UNKNOWN_REFERENCE", `"${root}" is not known here${hint}`);
      }
    }
  }

  if (!links.complete) return;
  for (const [index, holds] of isAncestor(links.incoming, order, questions).entries()) {
    const question = questions[index];
    if (holds || question === undefined) continue;
    const { placed } = question;
    const other = String(placed.reference.path[0]);
    const message =
      question.node === question.ancestor
        ? `"${other}" cannot refer to its own output`
        : `"${other}" does not come before "${String(placed.node)}", so it may not have run yet`;
    report(placed, "NOT_AN_ANCESTOR", message);
  }

  function report(placed: PlacedReference, code: FindingCode, message: string): void {
    findings.push(errorAt(code, placed.path, message, { offset: placed.reference.offset }));
  }
}
