import type { Json } from "../model/json.ts";
import type {
  ConditionalDefinition,
  EndDefinition,
  FanInDefinition,
  FanOutDefinition,
  NodeDefinition,
  StartDefinition,
  TaskDefinition,
  WorkflowDefinition,
} from "../model/workflow.ts";
import type { Condition } from "./language/condition.ts";
import type { Template } from "./language/template.ts";
import type { SecretNames } from "./secrets.ts";

/** A workflow ready to be evaluated: edges drawn, templates and conditions parsed once. */
export interface Graph {
  readonly definition: WorkflowDefinition;
  /** In topological order: a node comes after every node that it depends on. */
  readonly nodes: readonly GraphNode[];
  readonly byId: ReadonlyMap<string, GraphNode>;
  /** The template of the job's result, if the author wrote `outputs`. */
  readonly outputs: Template | undefined;
  /**
   * Without `outputs` the result is the outputs of these nodes: those that give a result and that
   * no other such node follows.
   */
  readonly results: readonly GraphNode[];
  /** Undefined: the definition names no secrets. */
  readonly secrets: SecretNames | undefined;
}

interface GraphNodeOf<Definition extends NodeDefinition> {
  readonly type: Definition["type"];
  readonly definition: Definition;
  readonly id: string;
  /** Index in `Graph.nodes`. */
  readonly position: number;
  /** all_of: every edge decided and one live. any_of: the first live edge is enough. */
  readonly join: "all_of" | "any_of";
  readonly incoming: readonly Edge[];
  readonly outgoing: readonly Edge[];
}

export type StartNode = GraphNodeOf<StartDefinition>;
export type EndNode = GraphNodeOf<EndDefinition>;
export interface TaskNode extends GraphNodeOf<TaskDefinition> {
  readonly params: Template;
}
export interface ConditionalNode extends GraphNodeOf<ConditionalDefinition> {
  /** The value that short conditions such as `< 100` are applied to. */
  readonly field: Template | undefined;
  /** One per branch; undefined is the default branch. */
  readonly conditions: readonly (Condition | undefined)[];
}
export interface FanOutNode extends GraphNodeOf<FanOutDefinition> {
  readonly source: Template | readonly Json[];
  readonly params: Template;
  /** The fan-ins that directly follow; the strictest of their failure budgets counts. */
  readonly fanIns: readonly FanInDefinition[];
}
export type FanInNode = GraphNodeOf<FanInDefinition>;

export type GraphNode = StartNode | EndNode | TaskNode | ConditionalNode | FanOutNode | FanInNode;

export interface Edge {
  readonly from: GraphNode;
  readonly to: GraphNode;
  /** From a conditional: the branches that take this edge. */
  readonly branches: readonly number[] | undefined;
  /** One of several of which the first live one is enough, beside edges that are all awaited. */
  readonly isAny: boolean;
}
