/**
 * Counts the rows of a CSV that have more values than the header has columns. GDAL leaves those values out
 * without a word; most often a text with a comma has no quotes, and the values after it are in wrong columns.
 */
const quote = 0x22;
const [lineFeed, carriageReturn, space] = [0x0a, 0x0d, 0x20];
const separators = [0x2c, 0x3b, 0x09, 0x7c] as const;

export class CsvRows {
  /** Rows with a value beyond the last column. */
  wide = 0;
  private isQuoted = false;
  /** Of the header, by separator; the most frequent one is that of the file. */
  private readonly inHeader = separators.map(() => 0);
  /** Undefined while the header is read. */
  private separator: number | undefined;
  private columns = 0;
  /** The separators of the current row so far. */
  private found = 0;
  private isWide = false;

  push(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === quote) this.isQuoted = !this.isQuoted;
      else if (this.isQuoted) continue;
      else if (byte === lineFeed || byte === carriageReturn) this.endRow();
      else if (this.separator === undefined) this.readHeader(byte);
      else if (byte === this.separator) this.found += 1;
      else if (this.found > this.columns && byte !== space && !this.isWide) {
        this.isWide = true;
        this.wide += 1;
      }
    }
  }

  private readHeader(byte: number): void {
    const index = separators.indexOf(byte as (typeof separators)[number]);
    if (index >= 0) this.inHeader[index] = (this.inHeader[index] ?? 0) + 1;
  }

  private endRow(): void {
    if (this.separator === undefined) {
      this.columns = Math.max(...this.inHeader);
      this.separator = separators[this.inHeader.indexOf(this.columns)];
    }
    this.found = 0;
    this.isWide = false;
  }
}
