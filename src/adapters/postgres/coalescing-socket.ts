import { Socket } from "node:net";
import { SharedSync } from "./shared-sync.ts";

/**
 * Writes everything of one turn of the event loop in one packet, whose statements the server answers in
 * one (shared-sync.ts). The driver writes each statement by itself, and the server would wake for the
 * first while the others are still being written: measured, a task on an idle machine took a quarter
 * longer.
 */
export class CoalescingSocket extends Socket {
  private isHolding = false;
  private readonly syncs: SharedSync | undefined;

  /** `isPipelined`: statements are written before those before them are answered. */
  constructor(isPipelined: boolean) {
    super();
    if (isPipelined) this.syncs = new SharedSync();
  }

  override connect(...args: unknown[]): this {
    super.connect(...(args as [string]));
    // Node sets the plain `write` on a socket that has another one.
    Reflect.deleteProperty(this, "write");
    return this;
  }

  override write(
    data: Uint8Array | string,
    encodingOrDone?: BufferEncoding | ((error?: Error | null) => void),
    done?: (error?: Error | null) => void,
  ): boolean {
    if (!this.isHolding) {
      this.isHolding = true;
      this.cork();
      process.nextTick(() => {
        this.isHolding = false;
        for (const message of this.syncs?.release() ?? []) super.write(message);
        this.uncork();
      });
    }
    if (this.syncs !== undefined && typeof data !== "string" && encodingOrDone === undefined) {
      let isWritable = true;
      for (const message of this.syncs.sending(data)) isWritable = super.write(message);
      return isWritable;
    }
    return typeof encodingOrDone === "string"
      ? super.write(data, encodingOrDone, done)
      : super.write(data, encodingOrDone);
  }

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    const isShared = this.syncs !== undefined && Buffer.isBuffer(chunk);
    return super.push(isShared ? this.syncs.receiving(chunk) : chunk, encoding);
  }
}
