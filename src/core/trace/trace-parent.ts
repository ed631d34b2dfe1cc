/**
 * Trace contexts as the header `traceparent` of W3C Trace Context names them: version, trace id, id
 * of the parent span, flags. Programs pass them on as text, in headers, messages and rows.
 */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** The caller records this trace. */
  readonly sampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Undefined: the text is no trace context, and is ignored. */
export function parseTraceParent(text: string | null | undefined): TraceParent | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = form.exec(text ?? "") ?? [];
  // A later version may append fields; version 00 has none, and ff is not a version.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) {
    return undefined;
  }
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceParent({ traceId, spanId, sampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

export function traceIdOf(text: string | null | undefined): string | null {
  return parseTraceParent(text)?.traceId ?? null;
}

/**
 * The id of a job's span follows from the job's id. So every orchestrator and worker names it as the
 * parent of its own spans, and the orchestrator that ends the job records it, with one column stored.
 */
export function jobSpanId(jobId: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(jobId)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return (hash === 0n ? 1n : hash).toString(16).padStart(16, "0");
}

/** The parent of everything that is done for a job; null: the job is not traced. */
export function jobTraceParent(jobId: string, stored: string | null): string | null {
  const parent = parseTraceParent(stored);
  if (parent === undefined) return null;
  return formatTraceParent({ ...parent, spanId: jobSpanId(jobId) });
}

/**
 * Of a fan-out only the children 0 to 9, 10, 20 … 90, 100, 200 … are traced: 28 of 1,000 and 37 of
 * 10,000. Every caller gets the same ones, so retries of a child stay in the trace.
 */
export function isTracedChild(index: number): boolean {
  return /^\d0*$/.test(String(index));
}
