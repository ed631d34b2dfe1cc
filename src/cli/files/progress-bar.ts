import { systemClock } from "../../adapters/runtime/clock.ts";
import { bytesText } from "../../core/model/bytes-text.ts";

export interface ProgressBar {
  readonly show: (bytes: number) => void;
  end(): void;
}

const width = 24;

/** One line that is drawn again; nothing where no person looks. */
export function createProgressBar(name: string, total: number, isQuiet: boolean): ProgressBar {
  const { stderr } = process;
  if (isQuiet || !stderr.isTTY) return { show: () => undefined, end: () => undefined };
  const began = systemClock.now().getTime();
  let first: number | undefined;
  return {
    show: (bytes) => {
      first ??= bytes;
      const seconds = (systemClock.now().getTime() - began) / 1000;
      const rate = seconds > 0.5 ? ` ${bytesText((bytes - first) / seconds)}/s` : "";
      const share = total === 0 ? 1 : bytes / total;
      const full = Math.round(share * width);
      const bar = "█".repeat(full) + "░".repeat(width - full);
      stderr.write(`\r\u001b[K${bar} ${Math.floor(share * 100)} % ${name}${rate}`);
    },
    end: () => {
      stderr.write("\r\u001b[K");
    },
  };
}
