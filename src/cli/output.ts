/**
 * Everything that the command line prints goes through here. `rmhdag … | head` closes the pipe
 * early; that is no error of ours, so the program ends quietly and without a stack trace.
 */
export function quietOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit();
      throw error;
    });
  }
}

export function print(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** What is for the person and not for the next program in the pipe. */
export function say(text: string): void {
  process.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

export function plural(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const groups = new Intl.NumberFormat("en-US");

/** 10,000: the same in every locale, so that output can be compared. */
export function grouped(count: number): string {
  return groups.format(count);
}

/**
 * Texts of handlers and workflows are the words of strangers: an escape sequence among them could
 * rewrite the screen or the title of the terminal, so none gets there.
 */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, " ");
}
