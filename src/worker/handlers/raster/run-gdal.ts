import type { GdalOutput, GdalProgram } from "../../../adapters/gdal/gdal.ts";
import type { HandlerContext } from "../../define-handler.ts";

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The part of the task's progress that this run is: from, to. */
  readonly progress?: readonly [number, number];
}

/** A program of GDAL within the task: its folder, its signal, its progress. */
export function runGdal(
  context: HandlerContext,
  program: GdalProgram,
  args: readonly string[],
  options: RunOptions = {},
): Promise<GdalOutput> {
  const { progress, env } = options;
  return context.gdal.run(program, args, {
    workDir: context.workDir,
    signal: context.signal,
    ...(env === undefined ? {} : { env }),
    ...(progress === undefined
      ? {}
      : {
          onProgress: (percent: number) => {
            const [from, to] = progress;
            context.progress(from + ((to - from) * percent) / 100);
          },
        }),
  });
}
