/**
 * Ctrl-C reaches every process in front of the terminal, and npm passes it on as well: under
 * `npm start` one keypress arrives twice within milliseconds. Only a later one means "at once".
 */
const sameKeypressMs = 1000;

export function onStopSignals(
  first: (signal: NodeJS.Signals) => void,
  again: (signal: NodeJS.Signals) => void,
): void {
  let firstAt: number | undefined;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        first(signal);
      } else if (performance.now() - firstAt > sameKeypressMs) again(signal);
    });
  }
}
