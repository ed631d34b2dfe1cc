/** Replaces `remove` bytes from `at` by a text in ASCII. */
export interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

/** A file that needs more changes than this is refused: they are kept in memory. */
export const mostEdits = 1_000_000;

/**
 * Applies edits to the bytes of a file, piece by piece. No edit removes bytes beyond the next edit's
 * place.
 */
export class Editor {
  private readonly edits: readonly Edit[];
  private next = 0;
  private position = 0;
  private skip = 0;

  constructor(edits: readonly Edit[]) {
    this.edits = edits;
  }

  push(bytes: Uint8Array): Uint8Array[] {
    const pieces: Uint8Array[] = [];
    const end = this.position + bytes.length;
    let from = 0;
    const keepUntil = (to: number) => {
      if (this.skip > 0) {
        const skipped = Math.min(this.skip, to - from);
        this.skip -= skipped;
        from += skipped;
      }
      if (to > from) pieces.push(bytes.subarray(from, to));
      from = Math.max(from, to);
    };
    for (
      let edit = this.edits[this.next];
      edit !== undefined && edit.at < end;
      edit = this.edits[this.next]
    ) {
      keepUntil(edit.at - this.position);
      pieces.push(Uint8Array.from(edit.insert, (letter) => letter.charCodeAt(0)));
      this.skip += edit.remove;
      this.next += 1;
    }
    keepUntil(bytes.length);
    this.position = end;
    return pieces;
  }
}
