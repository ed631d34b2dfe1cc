/**
 * Streams a request to a program of the platform: the bytes of an upload are never held here, and a
 * break of either connection breaks the other, so that the target keeps what has arrived.
 */
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { json as readJson } from "node:stream/consumers";
import { Problem, errorCatalogue } from "../core/errors.ts";
import type { ErrorCode, ProblemItem } from "../core/errors.ts";
import type { Target } from "./call-target.ts";

export interface StreamedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Readable | undefined;
}

export interface StreamedAnswer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The last part of a large file is answered after the file was checked, which takes its time. */
const answerMs = 15 * 60 * 1000;

export async function streamToTarget(
  { name, url, token }: Target,
  { method, path, headers, body }: StreamedRequest,
): Promise<StreamedAnswer> {
  const address = new URL(url + path);
  const send = address.protocol === "https:" ? requestHttps : requestHttp;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const sent = send(address, { method, headers: { ...headers, ...authorization } });
    sent.setTimeout(answerMs, () => sent.destroy(new Error("no answer")));
    sent.once("error", () => {
      reject(new Problem("UNAVAILABLE", `${name} cannot be reached. Try again in a moment.`));
    });
    sent.once("response", (answer) => {
      const status = answer.statusCode ?? 0;
      // A refusal may come before the end of the body.
      body?.unpipe(sent).resume();
      if (status === 204) answer.resume();
      const read = status === 204 ? Promise.resolve(null) : readJson(answer);
      read
        .then((value) => {
          if (status < 400) resolve({ headers: toRecord(answer.headers), body: value });
          else reject(toProblem(value, toRecord(answer.headers)));
        })
        .catch(reject);
    });
    if (body === undefined) {
      sent.end();
      return;
    }
    body.once("error", () => sent.destroy());
    body.once("close", () => {
      if (!body.readableEnded) sent.destroy();
    });
    body.pipe(sent);
  });
}

const forPartners: ReadonlySet<string> = new Set([
  "tus-resumable",
  "tus-version",
  "tus-max-size",
  "upload-offset",
  "upload-length",
  "upload-expires",
  "upload-metadata",
  "location",
]);

function toRecord(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      forPartners.has(name) && typeof value === "string" ? [[name, value]] : [],
    ),
  );
}

function toProblem(value: unknown, headers: Readonly<Record<string, string>>): Problem {
  const { code, detail, errors } = value as {
    code?: string;
    detail?: string;
    errors?: readonly ProblemItem[];
  };
  const isKnown = code !== undefined && Object.hasOwn(errorCatalogue, code);
  const known = isKnown ? (code as ErrorCode) : "UNAVAILABLE";
  // What concerns the gateway's own token, or a bug, is not for partners.
  if (!isKnown || known === "UNAUTHENTICATED" || known === "FORBIDDEN" || known === "INTERNAL") {
    const sorry = "The platform cannot do this now. Try again in a moment.";
    return new Problem("UNAVAILABLE", sorry, [], { headers });
  }
  return new Problem(known, detail ?? "", errors ?? [], { headers });
}
