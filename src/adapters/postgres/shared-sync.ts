/**
 * Lets the statements that leave together share one Sync of PostgreSQL's protocol.
 *
 * The driver ends every statement with a Sync, which makes the server send its answer at once: seven
 * statements of a transaction are seven packets back, and each wakes this process while the server works
 * on the next. Here a Sync that another statement follows is left out, and the driver is given the
 * ReadyForQuery that it waits for behind the answer of its statement. The server skips what follows a
 * failed statement until the Sync; the driver is told so of each skipped statement, with the error that
 * the server has for statements of an aborted transaction.
 */
/** The type of a message and its length. */
const headerBytes = 5;
const sync = Buffer.from([0x53, 0, 0, 0, 4]);
const readyInTransaction = Buffer.from("Z\0\0\0\x05T", "latin1");
const readyInFailed = Buffer.from("Z\0\0\0\x05E", "latin1");
const skipped = errorResponse("25P02", "current transaction is aborted, statement was skipped");
const skippedAndReady = Buffer.concat([skipped, readyInFailed]);

const protocolVersion3 = 0x00030000;

/** The type bytes of messages; `Close` and `CommandComplete` share one, in different directions. */
const code = (letter: string): number => letter.charCodeAt(0);
const [parse, bind, query] = [code("P"), code("B"), code("Q")];
const [complete, empty, closed] = [code("C"), code("I"), code("3")];
const [error, ready] = [code("E"), code("Z")];

export class SharedSync {
  /** False until the startup message of an unencrypted connection: before, nothing has a type byte. */
  private isStarted = false;
  private isHolding = false;
  /** One for each statement without an answer, the oldest first; true: its Sync was left out. */
  private readonly unanswered: boolean[] = [];
  private readonly header = Buffer.alloc(headerBytes);
  private headerLength = 0;
  private type = 0;
  /** Bytes of the message that are still to come. */
  private bodyLength = 0;

  /** Answers what to write in the place of a message of the driver. */
  sending(message: Uint8Array): readonly Uint8Array[] {
    if (!this.isStarted) {
      this.isStarted =
        message.length > 8 && Buffer.from(message).readUInt32BE(4) === protocolVersion3;
      // The ReadyForQuery that ends the startup.
      if (this.isStarted) this.unanswered.push(false);
      return [message];
    }
    if (message.length === sync.length && sync.equals(message)) {
      const before = this.release();
      this.isHolding = true;
      return before;
    }
    const [type] = message;
    if (this.isHolding && (type === parse || type === bind)) {
      this.isHolding = false;
      this.unanswered.push(true);
      return [message];
    }
    const before = this.release();
    if (type === query) this.unanswered.push(false);
    return [...before, message];
  }

  /** Answers the Sync that is held back, if there is one: no statement follows for now. */
  release(): readonly Uint8Array[] {
    if (!this.isHolding) return [];
    this.isHolding = false;
    this.unanswered.push(false);
    return [sync];
  }

  /** Answers what the driver must read in the place of bytes of the server. */
  receiving(chunk: Buffer): Buffer {
    if (!this.isStarted) return chunk;
    const parts: Buffer[] = [];
    let from = 0;
    let at = 0;
    while (at < chunk.length) {
      at = this.advance(chunk, at);
      if (this.headerLength < headerBytes || this.bodyLength > 0) break;
      this.headerLength = 0;
      const added = this.answer();
      if (added.length === 0) continue;
      parts.push(chunk.subarray(from, at), ...added);
      from = at;
    }
    return parts.length === 0 ? chunk : Buffer.concat([...parts, chunk.subarray(from)]);
  }

  /** Reads on to the end of the message or of the chunk, and answers where that is. */
  private advance(chunk: Buffer, from: number): number {
    let at = from;
    if (this.headerLength < headerBytes) {
      const taken = chunk.copy(
        this.header,
        this.headerLength,
        at,
        at + headerBytes - this.headerLength,
      );
      this.headerLength += taken;
      at += taken;
      if (this.headerLength < headerBytes) return at;
      this.type = this.header[0] ?? 0;
      this.bodyLength = this.header.readUInt32BE(1) - 4;
    }
    const taken = Math.min(this.bodyLength, chunk.length - at);
    this.bodyLength -= taken;
    return at + taken;
  }

  /** Answers what the driver must read behind a message of the server that has ended. */
  private answer(): readonly Buffer[] {
    const [isShared] = this.unanswered;
    if (this.type === ready) this.unanswered.shift();
    if (isShared !== true) return [];
    if (this.type === complete || this.type === empty || this.type === closed) {
      this.unanswered.shift();
      return [readyInTransaction];
    }
    if (this.type !== error) return [];
    const added: Buffer[] = [readyInFailed];
    this.unanswered.shift();
    while (this.unanswered[0] === true) {
      this.unanswered.shift();
      added.push(skippedAndReady);
    }
    // The last statement has the Sync, so the server answers its ReadyForQuery.
    if (this.unanswered.length > 0) added.push(skipped);
    return added;
  }
}

function errorResponse(sqlState: string, message: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${sqlState}\0M${message}\0\0`);
  const header = Buffer.alloc(headerBytes, "E");
  header.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([header, fields]);
}
