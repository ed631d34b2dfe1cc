import type { GdalProgram } from "../gdal.ts";

/** To the process: one run. It gets the next one when it has answered. */
export interface RunMessage {
  readonly program: GdalProgram;
  readonly args: readonly string[];
  readonly workDir: string;
  readonly stdin: string;
  readonly env: Readonly<Record<string, string>>;
}

export type AnswerMessage =
  | { readonly kind: "progress"; readonly percent: number }
  | {
      readonly kind: "done";
      readonly ok: boolean;
      readonly stdout: string;
      readonly stderr: string;
      /** The library's memory only grows: the parent replaces a process that has much. */
      readonly residentBytes: number;
    };
