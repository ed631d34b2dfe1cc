import type { Handlers } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { proxyContracts } from "../../core/api/gateway/proxy.ts";
import { Problem } from "../../core/errors.ts";
import { allowedPath } from "../../core/gateway/proxy-rules.ts";
import type { TargetAnswer } from "../call-target.ts";
import { callTarget, TargetError } from "../call-target.ts";
import type { Passed } from "../orchestrator.ts";
import type { RouteDeps } from "./deps.ts";
import { askTargets, overall } from "./targets.ts";

/** What may travel. The caller's own token never does: the target is asked with the gateway's. */
const passedOn = ["accept", "if-match", "if-none-match", "x-correlation-id"];
const passedBack = ["content-type", "etag", "retry-after", "last-modified"];

interface ProxyRequest extends Passed {
  readonly params: { readonly target: string; readonly path: string };
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export function proxyRoutes(
  deps: Pick<RouteDeps, "targets" | "proxyRules" | "forwardTimeoutMs">,
): Handlers<typeof proxyContracts> {
  async function pass(method: string, request: ProxyRequest): Promise<Answer> {
    const { target: name, path } = request.params;
    const target = deps.targets.get(name);
    if (target === undefined) {
      const names = [...deps.targets.keys()].join(", ");
      throw new Problem("NOT_FOUND", `There is no target "${name}": they are ${names}.`);
    }
    const allowed = allowedPath(deps.proxyRules, method, path);
    if (allowed === undefined) {
      throw new Problem("FORBIDDEN", `${method} /${path} is not passed on to ${name}.`);
    }
    const { body } = request;
    const answer = await callTarget(target, {
      method,
      path: allowed + queryText(request.query),
      headers: { ...headersOf(request, passedOn), "x-request-id": request.requestId },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs: deps.forwardTimeoutMs,
    }).catch((error: unknown) => {
      throw error instanceof TargetError ? new Problem("UNAVAILABLE", `${error.message}.`) : error;
    });
    return passBack(answer, name);
  }

  return {
    proxyGet: async (request) => pass("GET", request),
    proxyPost: async (request) => pass("POST", request),
    proxyPut: async (request) => pass("PUT", request),
    proxyPatch: async (request) => pass("PATCH", request),
    proxyDelete: async (request) => pass("DELETE", request),
    proxyHealth: async () => {
      const targets = await askTargets(deps.targets);
      return { status: overall(targets), targets };
    },
  };
}

function passBack({ status, headers, bytes }: TargetAnswer, name: string): Answer {
  if (status >= 300 && status < 400 && status !== 304) {
    throw new Problem("BAD_GATEWAY", `${name} sends elsewhere, which is not followed.`);
  }
  const kept = passedBack.flatMap((header) => {
    const value = headers.get(header);
    return value === null ? [] : [[header, value]];
  });
  return new Answer(bytes, { status, headers: Object.fromEntries(kept) as Record<string, string> });
}

function headersOf(request: Passed, names: readonly string[]): Record<string, string> {
  const found = names.flatMap((name) => {
    const value = request.header(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found) as Record<string, string>;
}

function queryText(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}
