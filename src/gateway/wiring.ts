import type { AccessPolicy } from "../adapters/http/access.ts";
import { createMetrics } from "../adapters/http/metrics.ts";
import { buildServer } from "../adapters/http/server.ts";
import { createAccessPolicy } from "../adapters/http/tokens.ts";
import { parseNetworks } from "../adapters/net/check-address.ts";
import { openDatabase } from "../adapters/postgres/database.ts";
import type { Asked, PartnerRequest } from "../adapters/postgres/queries/gateway-requests.ts";
import { findRequests } from "../adapters/postgres/queries/gateway-requests.ts";
import { createBatcher } from "../adapters/runtime/batcher.ts";
import { systemClock } from "../adapters/runtime/clock.ts";
import type { Logger } from "../adapters/runtime/logger.ts";
import { createService } from "../adapters/runtime/service.ts";
import { version } from "../adapters/runtime/version.ts";
import { openTracer } from "../adapters/tracing/open-tracer.ts";
import { gatewayContracts } from "../core/api/gateway/index.ts";
import { apiKeyPattern } from "../core/model/platform.ts";
import type { Target } from "./call-target.ts";
import type { GatewayConfig } from "./config.ts";
import { limitGuesses } from "./limit-guesses.ts";
import { createRateLimiter } from "./limit-rate.ts";
import { createOrchestrator } from "./orchestrator.ts";
import { makeRoutes } from "./routes/routes.ts";
import type { StartChecks } from "./start-checks.ts";
import { createStartChecks } from "./start-checks.ts";
import { createKeyVerifier } from "./verify-key.ts";

export interface RunningGateway {
  readonly url: string;
  readonly stopSteps: readonly { readonly name: string; readonly stop: () => Promise<unknown> }[];
}

export interface GatewayOptions {
  /** For tests: fails an answer that does not match its contract. */
  readonly checkAnswers?: boolean;
}

const checkEveryMs = 5000;
const pollsAtOnce = 500;
/** In seconds: a submission takes milliseconds, a call of an orchestrator that is away its timeout. */
const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export async function startGateway(
  config: GatewayConfig,
  log: Logger,
  options: GatewayOptions = {},
): Promise<RunningGateway> {
  const db = openDatabase({
    url: config.databaseUrl,
    applicationName: "rmhdag gateway",
    max: 8,
    onConnectionLost: (err) => {
      log.warn({ err }, "a connection to the database was lost");
    },
  });
  const checks = createStartChecks(db);
  const targets = new Map(
    Object.entries(config.targets).map(([name, url]): [string, Target] => [
      name,
      { name, url: url.replace(/\/+$/, ""), token: config.serviceToken },
    ]),
  );
  const orchestrator = targets.get("orchestrator");
  if (orchestrator === undefined) throw new Error("The gateway has no orchestrator.");
  const tracer = await openTracer(config.tracing, log);
  const limiter = createRateLimiter(config.rates, systemClock);
  const metrics = createMetrics();
  const polls = createBatcher<Asked, PartnerRequest | undefined>({
    maxItems: pollsAtOnce,
    flush: (asked) => findRequests(db, asked),
  });
  const server = await buildServer({
    contracts: gatewayContracts,
    handlers: makeRoutes({
      db,
      orchestrator: createOrchestrator(orchestrator, {
        timeoutMs: config.forwardTimeoutMs,
        log,
        tracer,
        durations: metrics.histogram(
          "orchestrator_call_duration_seconds",
          "How long calls of the orchestrator for partners took, by outcome.",
          ["outcome"],
          callBuckets,
        ),
      }),
      polls,
      limiter,
      checks,
      targets,
      proxyRules: config.proxyRules,
      forwardTimeoutMs: config.forwardTimeoutMs,
      publicUrl: config.publicUrl,
      servicesUrl: config.servicesUrl,
      version,
      metrics,
      shownConfig: shown(config),
    }),
    access: accessPolicy(
      config,
      checks,
      createKeyVerifier({ db, clock: systemClock, cacheMs: config.keyCacheMs }),
    ),
    log,
    bodyLimitBytes: config.bodyLimitBytes,
    timeouts: config.timeouts,
    tracer,
    onAnswered: (timing) => {
      metrics.observe(timing);
    },
    admit: (caller) => {
      limiter.take(caller);
    },
    ...(options.checkAnswers === undefined ? {} : { checkAnswers: options.checkAnswers }),
  });
  await checks.runOnce();
  const service = createService({
    name: "start checks",
    runOnce: () => checks.runOnce(),
    intervalMs: checkEveryMs,
    log,
  });
  service.start();
  const { url } = await server.listen({ host: config.host, port: config.port });
  return {
    url,
    stopSteps: [
      { name: "server", stop: () => server.close() },
      { name: "checks", stop: () => service.stop() },
      { name: "polls", stop: () => polls.idle() },
      { name: "traces", stop: async () => tracer?.close() },
      { name: "database", stop: () => db.close() },
    ],
  };
}

/** Operators are known from the configuration, partners from the database. */
function accessPolicy(
  config: GatewayConfig,
  checks: StartChecks,
  verifyKey: ReturnType<typeof createKeyVerifier>,
): AccessPolicy {
  const operators = createAccessPolicy(config.operatorTokens);
  const { perMinute, trustedProxies } = config.guesses;
  const authenticate = limitGuesses(
    async (token) => {
      // API keys have a form of their own, so each token is looked up in one place only.
      if (!apiKeyPattern.test(token)) return operators.authenticate(token);
      checks.demand();
      return verifyKey(token);
    },
    { perMinute, trustedProxies: parseNetworks(trustedProxies) },
    systemClock,
  );
  return {
    // Keys are in the database.
    hasTokens: true,
    openOnLoopback: false,
    anonymousOnPublic: true,
    authenticate: (token, came) =>
      authenticate(token, came ?? { remoteAddress: undefined, forwardedFor: undefined }),
  };
}

function shown(config: GatewayConfig) {
  const { host, port, publicUrl, rates, bodyLimitBytes, timeouts, keyCacheMs } = config;
  return {
    version,
    host,
    port,
    public_url: publicUrl,
    rate: { per_second: rates.key.perSecond, burst: rates.key.burst },
    platform_rate: { per_second: rates.platform.perSecond, burst: rates.platform.burst },
    body_limit_bytes: bodyLimitBytes,
    // This name is a part of the API.
    patience: { headers_ms: timeouts.headersMs, request_ms: timeouts.requestMs },
    key_cache_ms: keyCacheMs,
    guesses_per_minute: config.guesses.perMinute,
    trusted_proxies: config.guesses.trustedProxies,
    forward_timeout_ms: config.forwardTimeoutMs,
    targets: Object.keys(config.targets),
    proxy_rules: config.proxyRules.map(
      ({ method, segments, takesRest }) =>
        `${method} /${segments.join("/")}${takesRest ? "/**" : ""}`,
    ),
    operators: config.operatorTokens.map(({ name }) => name),
    has_service_token: config.serviceToken !== undefined,
  };
}
