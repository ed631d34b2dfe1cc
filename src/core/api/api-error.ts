import type { ErrorCode, ProblemItem } from "../errors.ts";

/**
 * A refusal as the client sees it. `UNREACHABLE`: there was no answer, or it was not the
 * platform's.
 */
export class ApiError extends Error {
  readonly code: ErrorCode | "UNREACHABLE";
  readonly status: number;
  readonly detail: string;
  readonly items: readonly ProblemItem[];
  readonly requestId: string | undefined;

  constructor(
    code: ErrorCode | "UNREACHABLE",
    status: number,
    detail: string,
    items: readonly ProblemItem[] = [],
    options: ErrorOptions & { requestId?: string | undefined } = {},
  ) {
    super(detail, options);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.items = items;
    this.requestId = options.requestId;
  }
}
