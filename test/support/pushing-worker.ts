import type { Connection } from "../../src/adapters/broker/postgres-broker/push/connections.ts";
import type { FromServer } from "../../src/adapters/broker/postgres-broker/push/protocol.ts";
import type { LeasedMessage } from "../../src/adapters/broker/postgres-broker/sql/message-columns.ts";
import type { TaskMessage } from "../../src/core/messages.ts";
import type { JsonObject } from "../../src/core/model/json.ts";
import type { TestEngine } from "./engine.ts";

/** A worker with an open push connection to a test engine: a test decides what it reports, and when. */
export class PushingWorker {
  /** Messages that the engine has pushed. */
  readonly pushed: LeasedMessage[] = [];
  /** Ids of messages whose reports the engine has recorded, or refused. */
  readonly recorded: number[] = [];
  readonly refused: number[] = [];
  readonly connection: Connection;
  private readonly engine: TestEngine;

  constructor(engine: TestEngine) {
    this.engine = engine;
    this.connection = {
      workerId: "worker",
      credit: new Map(),
      send: (line) => this.receive(line),
    };
    engine.connections.add(this.connection);
    const credit = { "functionapp-tasks": 1000, "dag-worker-tasks": 1000 };
    engine.connections.receive(this.connection, { credit });
  }

  close(): void {
    this.engine.connections.remove(this.connection);
  }

  next(): LeasedMessage {
    const message = this.pushed.shift();
    if (message === undefined) throw new Error("nothing was pushed");
    return message;
  }

  report(message: LeasedMessage, outcome: JsonObject | { readonly failed: string }): void {
    const { job_id, node_id, task_id } = JSON.parse(message.body) as TaskMessage;
    const { message_id, deliveries, leased_at } = message;
    const error =
      "failed" in outcome ? { code: "BOOM", message: outcome.failed, category: "transient" } : null;
    const sent = {
      job_id,
      node_id,
      task_id,
      lease: { message_id, deliveries },
      leased_at,
      status: error === null ? ("completed" as const) : ("failed" as const),
      output: error === null ? JSON.stringify(outcome) : null,
      error: error && JSON.stringify(error),
    };
    this.engine.connections.receive(this.connection, { reports: [sent] });
  }

  private receive(line: FromServer): boolean {
    if ("messages" in line) this.pushed.push(...line.messages);
    if ("recorded" in line) this.recorded.push(...line.recorded);
    if ("refused" in line) this.refused.push(...line.refused);
    return true;
  }
}
