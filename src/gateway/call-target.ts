/**
 * One HTTP request to a program of the platform. The address comes from the configuration and the
 * path from our own code, so a partner cannot make the gateway call anything else; redirects are
 * not followed, and an answer that is too slow or too large is none.
 */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly token: string | undefined;
}

export interface TargetRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface TargetAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly bytes: Uint8Array;
}

/** `refused`: nothing listens there, so nothing was done. Otherwise nobody knows what was done. */
export class TargetError extends Error {
  readonly kind: "refused" | "slow" | "broken" | "too_large";

  constructor(kind: TargetError["kind"], message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "TargetError";
    this.kind = kind;
  }
}

const mostBytes = 16 * 1024 * 1024;

export async function callTarget(target: Target, request: TargetRequest): Promise<TargetAnswer> {
  const { method, path, body, timeoutMs, signal } = request;
  const slow = AbortSignal.timeout(timeoutMs);
  const headers: Record<string, string> = { ...request.headers };
  if (target.token !== undefined) headers["authorization"] = `Bearer ${target.token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  try {
    const answer = await fetch(target.url.replace(/\/+$/, "") + path, {
      method,
      headers,
      redirect: "manual",
      signal: signal === undefined ? slow : AbortSignal.any([slow, signal]),
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.status, headers: answer.headers, bytes: await readAll(answer) };
  } catch (cause) {
    if (cause instanceof TargetError) throw cause;
    if (slow.aborted) {
      const told = `${target.name} has not answered for ${timeoutMs / 1000} s`;
      throw new TargetError("slow", told, { cause });
    }
    const isRefused = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH/.test(codesOf(cause));
    const told = isRefused ? `${target.name} cannot be reached` : `${target.name} broke off`;
    throw new TargetError(isRefused ? "refused" : "broken", told, { cause });
  }
}

async function readAll(answer: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (answer.body === null) return new Uint8Array();
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > mostBytes) throw new TargetError("too_large", "the answer is too large to pass on");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** fetch hides why it failed in a chain of causes, and several addresses in an AggregateError. */
function codesOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const inner = error instanceof AggregateError ? error.errors.map(codesOf) : [];
  const { code } = error as NodeJS.ErrnoException;
  return [code ?? "", ...inner, codesOf(error.cause)].join(" ");
}
