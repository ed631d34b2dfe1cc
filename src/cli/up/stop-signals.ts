/**
 * SIGINT and SIGTERM of the command line: the first one stops in order, a later one at once. What
 * the started programs do on SIGTERM is in adapters/runtime/shutdown.ts.
 *
 * Ctrl-C reaches every process in the terminal's foreground, and npm passes it on as well: under
 * `npm start` one keypress arrives twice within milliseconds. Such a second signal is ignored.
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
