/**
 * Redraws a block of lines in place. A frame is one write and overwrites what stands there instead
 * of clearing it first, so nothing flickers.
 */
export interface LiveScreen {
  draw(lines: readonly string[]): void;
  /** The last frame stays; the cursor is behind it and visible again. */
  close(): void;
}

interface Terminal {
  write(text: string): unknown;
}

const hideCursor = "\u001b[?25l";
const showCursor = "\u001b[?25h";
const clearToEndOfLine = "\u001b[K";
const clearBelow = "\u001b[J";

export function openLiveScreen(terminal: Terminal): LiveScreen {
  let height = 0;
  let last = "";
  terminal.write(hideCursor);
  return {
    draw(lines) {
      const text = lines.map((line) => `${line}${clearToEndOfLine}\n`).join("");
      if (text === last) return;
      last = text;
      const up = height === 0 ? "" : `\u001b[${height}A`;
      terminal.write(`${up}\r${text}${clearBelow}`);
      height = lines.length;
    },
    close() {
      terminal.write(showCursor);
    },
  };
}
