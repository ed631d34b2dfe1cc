import { Socket } from "node:net";

/**
 * Writes everything of one turn of the event loop in one packet. The driver writes each statement by
 * itself, and the server would wake for the first while the others are still being written: measured,
 * a task on an idle machine took a quarter longer.
 */
export class CoalescingSocket extends Socket {
  private isHolding = false;

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
        this.uncork();
      });
    }
    return typeof encodingOrDone === "string"
      ? super.write(data, encodingOrDone, done)
      : super.write(data, encodingOrDone);
  }
}
