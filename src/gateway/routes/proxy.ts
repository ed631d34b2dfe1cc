import type { Answer, Handlers } from "../../adapters/http/handler.ts";
import type { proxyContracts } from "../../core/api/gateway/proxy.ts";
import { Problem } from "../../core/errors.ts";
import { allowedPath } from "../../core/gateway/proxy-rules.ts";
import { overallState, probeTargets } from "../call-target.ts";
import type { ForwardedRequest } from "../orchestrator.ts";
import { forward } from "../forward.ts";
import type { RouteDeps } from "./deps.ts";

interface ProxyRequest extends ForwardedRequest {
  readonly params: { readonly target: string; readonly path: string };
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export function proxyRoutes(
  deps: Pick<RouteDeps, "targets" | "proxyRules" | "forwardTimeoutMs">,
): Handlers<typeof proxyContracts> {
  const { forwardTimeoutMs: timeoutMs } = deps;
  async function forwardTo(method: string, request: ProxyRequest): Promise<Answer> {
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
    const { query, body } = request;
    return forward(target, request, { method, path: allowed, query, body, timeoutMs });
  }

  return {
    proxyGet: async (request) => forwardTo("GET", request),
    proxyPost: async (request) => forwardTo("POST", request),
    proxyPut: async (request) => forwardTo("PUT", request),
    proxyPatch: async (request) => forwardTo("PATCH", request),
    proxyDelete: async (request) => forwardTo("DELETE", request),
    proxyHealth: async () => {
      const targets = await probeTargets(deps.targets);
      return { status: overallState(targets), targets };
    },
  };
}
