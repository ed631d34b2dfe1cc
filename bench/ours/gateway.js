/** W6: partners' requests, each with an asset and a version of its own, through the gateway. */
import { createPoster } from "./http.js";

const user = "bench_gateway";
const platform = "bench";

/** Starts a gateway with a read-only login, and makes a partner's key; answers how to submit. */
export async function openGateway({ databaseUrl, root, orchestrator, api, start, connections }) {
  const { makeLogins } = await import(
    new URL("dist/adapters/postgres/roles/make-login.js", root).href
  );
  await makeLogins(databaseUrl, [{ role: "rmhdag_gateway", user, password: user }]);
  const readOnly = new URL(databaseUrl);
  readOnly.username = user;
  readOnly.password = user;
  const gateway = await start("gateway", {
    GATEWAY_DATABASE_URL: readOnly.href,
    GATEWAY_PORT: "0",
    ORCHESTRATOR_URL: orchestrator.fields.url,
    GATEWAY_RATE_PER_SECOND: "1000000",
    GATEWAY_RATE_BURST: "1000000",
  });
  await api.send("PUT", `/api/v1/platforms/${platform}`, {
    display_name: "Bench",
    required_refs: ["dataset_id"],
  });
  const { key } = await api.post("/api/v1/keys", {
    platform_id: platform,
    name: "bench",
    scopes: ["submit", "read"],
  });
  const partner = createPoster(gateway.fields.url, { connections, token: key });
  let datasets = 0;
  return {
    submit: () =>
      partner.post("/api/platform/submit", {
        platform_refs: { dataset_id: `d${datasets++}` },
        version_label: "v1",
        workflow_id: "bench_one",
        inputs: {},
      }),
    close: () => partner.close(),
  };
}
