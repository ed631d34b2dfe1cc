/**
 * The port to traces. A program without traces has no tracer, and asks `tracer?.start(…)`: it loads no
 * library and makes no object. Contexts are the text of the header `traceparent`, because most parents
 * are in another process.
 */
export interface Tracer {
  start(name: string, options?: SpanOptions): Span;
  /** In milliseconds since 1970, with fractions: for spans that are recorded after their end. */
  now(): number;
  /** Sends what is left. */
  close(): Promise<void>;
}

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** Whom the span serves; "internal" unless given. */
  readonly kind?: "server" | "client" | "producer" | "consumer" | "internal";
  /** Without a valid one the span begins a new trace. */
  readonly parent?: string | null | undefined;
  readonly attributes?: Attributes;
  /** Contexts of other traces that this span has to do with. */
  readonly links?: readonly string[];
  /** As `Tracer.now`; the present unless given. */
  readonly startedAt?: number | undefined;
  /** The span's own id, where others already name it; a random one unless given. */
  readonly spanId?: string;
}

export interface Span {
  /** For the spans below this one, and for other programs. */
  readonly context: string;
  /** The sampler leaves the others out. */
  readonly sampled: boolean;
  set(attributes: Attributes): void;
  /** With `error` the span counts as failed. */
  end(outcome?: { readonly error?: string | undefined; readonly endedAt?: number }): void;
}
