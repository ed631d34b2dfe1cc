import { statfs } from "node:fs/promises";
import { constants, totalmem } from "node:os";
import { KnownError } from "../runtime/known-error.ts";
import { NotEnough, reservedBytes } from "./ensure-space.ts";
import { GdalError } from "./gdal-error.ts";

/** The limits of one process of GDAL. */
export interface GdalLimits {
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  /** Of each file that it writes. */
  readonly fileBytes: number;
  /** Processes and threads together. The kernel does not hold root to it. */
  readonly processes: number;
}

const mebibyte = 1024 * 1024;
const leastMemory = 1024 * mebibyte;
/** A day: the time limit of the task comes first, unless many threads work at once. */
const defaultCpuSeconds = 86_400;
/** More than the threads of GDAL on the largest machines. */
const mostProcesses = 512;

export interface LimitSettings {
  readonly memoryMb?: number | undefined;
  readonly cpuSeconds?: number | undefined;
  readonly outputMb?: number | undefined;
}

/** The limits of a run: those of the settings, and never a larger file than the disk has room for. */
export async function limitsFor(settings: LimitSettings, workDir: string): Promise<GdalLimits> {
  const { bavail, bsize } = await statfs(workDir);
  const free = Math.max(mebibyte, bavail * bsize - reservedBytes);
  const { outputMb = Infinity, cpuSeconds = defaultCpuSeconds } = settings;
  return {
    memoryBytes: memoryOf(settings),
    cpuSeconds,
    fileBytes: Math.floor(Math.min(free, outputMb * mebibyte)),
    processes: mostProcesses,
  };
}

/** Half of the memory of this machine, or of this container. */
function memoryOf({ memoryMb }: LimitSettings): number {
  if (memoryMb !== undefined) return memoryMb * mebibyte;
  const constrained = process.constrainedMemory();
  const all = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(leastMemory, Math.floor(all / 2));
}

/** Arguments of `prlimit`. Memory is limited as data, which leaves out files that are mapped. */
export function limitArguments(limits: GdalLimits): string[] {
  const { memoryBytes, cpuSeconds, fileBytes, processes } = limits;
  // The kernel sends SIGXCPU at the first number, and SIGKILL at the second.
  const cpu = `${cpuSeconds}:${cpuSeconds + 5}`;
  return [
    `--data=${memoryBytes}`,
    `--cpu=${cpu}`,
    `--fsize=${fileBytes}`,
    `--nproc=${processes}`,
    "--core=0",
  ];
}

/** GDAL was stopped at one of the worker's limits. */
class GdalLimit extends KnownError {
  constructor(code: string, program: string, what: string, setting: string) {
    super(
      code,
      "permanent",
      `${program} needs more than ${what}, the limit of this worker. Submit a smaller file, or raise ${setting}.`,
      { program },
    );
  }
}

/** The error that says which limit a failed run has met; its own where it met none. */
export function explainLimit(error: unknown, limits: GdalLimits, settings: LimitSettings): unknown {
  if (!(error instanceof GdalError)) return error;
  const { program, killedBy, lines } = error;
  if (killedBy === "SIGXCPU") {
    const time = `${limits.cpuSeconds} s of processor time`;
    return new GdalLimit("GDAL_CPU_LIMIT", program, time, "GDAL_CPU_SECONDS");
  }
  if (killedBy === "SIGXFSZ" || /file too large|\bEFBIG\b/i.test(lines.join("\n"))) {
    const isOurs = limits.fileBytes === (settings.outputMb ?? 0) * mebibyte;
    if (!isOurs) {
      return new NotEnough("DISK_FULL", "disk", limits.fileBytes + mebibyte, limits.fileBytes);
    }
    const size = `${settings.outputMb ?? 0} MiB in a file`;
    return new GdalLimit("GDAL_OUTPUT_LIMIT", program, size, "GDAL_OUTPUT_MB");
  }
  // The kernel's OOM killer sends SIGKILL, and then the machine is short of memory and not the run.
  if (error.code === "OUT_OF_MEMORY" && killedBy !== "SIGKILL") {
    const memory = `${Math.floor(limits.memoryBytes / mebibyte)} MiB of memory`;
    return new GdalLimit("GDAL_MEMORY_LIMIT", program, memory, "GDAL_MEMORY_MB");
  }
  return error;
}

/** The signal that ended a program inside of a sandbox, which reports it as 128 and its number. */
export function signalOf(exitCode: number | null): string | undefined {
  if (exitCode === null || exitCode <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0];
}
