/** Receives traces by OTLP over HTTP, as a collector does, and keeps their spans. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { fields, text } from "./read-protobuf.ts";

export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  /** As OTLP numbers them: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The ids of the spans that it links to, each as `trace/span`. */
  readonly links: readonly string[];
  readonly failed: boolean;
}

export interface TraceReceiver {
  readonly url: string;
  spans(traceId: string): readonly ReceivedSpan[];
  close(): void;
}

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const received: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const isTraces = request.method === "POST" && request.url === "/v1/traces";
      const isProtobuf = request.headers["content-type"] === "application/x-protobuf";
      if (!isTraces || !isProtobuf) return response.writeHead(404).end();
      const isPacked = request.headers["content-encoding"] === "gzip";
      received.push(...readRequest(isPacked ? gunzipSync(body) : body));
      return response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: (traceId) =>
      received
        .filter((span) => span.traceId === traceId)
        .toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The numbers of the fields are those of opentelemetry/proto/trace/v1/trace.proto. */
function readRequest(bytes: Uint8Array): ReceivedSpan[] {
  return every(bytes, 1).flatMap((resourceSpans) => {
    const resource = every(resourceSpans, 1)[0] ?? new Uint8Array();
    const service = String(readAttributes(every(resource, 1))["service.name"]);
    const scopes = every(resourceSpans, 2);
    return scopes.flatMap((scope) => every(scope, 2)).map((span) => readSpan(service, span));
  });
}

function readSpan(service: string, bytes: Uint8Array): ReceivedSpan {
  const all = new Map(fields(bytes));
  const status = new Map(fields((all.get(15) ?? new Uint8Array()) as Uint8Array));
  return {
    service,
    name: text(all.get(5) as Uint8Array),
    kind: all.get(6) as number,
    traceId: hex(all.get(1)),
    spanId: hex(all.get(2)),
    parentId: hex(all.get(4)),
    startMs: milliseconds(all.get(7)),
    endMs: milliseconds(all.get(8)),
    attributes: readAttributes(every(bytes, 9)),
    links: every(bytes, 13).map((link) => {
      const of = new Map(fields(link));
      return `${hex(of.get(1))}/${hex(of.get(2))}`;
    }),
    failed: status.get(3) === 2,
  };
}

function readAttributes(pairs: readonly Uint8Array[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, value] = [every(pair, 1)[0]!, every(pair, 2)[0]!];
      const [kind, given] = fields(value)[0]!;
      return [text(key), kind === 1 ? text(given as Uint8Array) : given];
    }),
  );
}

function every(bytes: Uint8Array, wanted: number): Uint8Array[] {
  return fields(bytes)
    .filter(([number]) => number === wanted)
    .map(([, value]) => value as Uint8Array);
}

function hex(value: number | Uint8Array | undefined): string {
  return Buffer.from((value ?? []) as Uint8Array).toString("hex");
}

function milliseconds(value: number | Uint8Array | undefined): number {
  return Number(Buffer.from(value as Uint8Array).readBigUInt64LE() / 1000n) / 1000;
}
