/** Which broker carries the messages, as the environment of orchestrators and workers says. */
import { z } from "zod";

export const brokerEnvironment = {
  BROKER: z.enum(["postgres", "rabbitmq", "servicebus"]).optional(),
  RABBITMQ_URL: z
    .url({ protocol: /^amqps?$/, error: "must be amqp://user:password@host:5672/vhost" })
    .optional(),
  SERVICE_BUS_CONNECTION_STRING: z
    .string()
    .regex(/^Endpoint=sb:\/\//i, "must begin with Endpoint=sb://")
    .optional(),
  SERVICE_BUS_FQDN: z
    .string()
    .regex(/^[\w.-]+$/, "must be a host, such as name.servicebus.windows.net")
    .optional(),
};

type BrokerEnvironment = z.output<z.ZodObject<typeof brokerEnvironment>>;

export type BrokerSettings =
  | { readonly kind: "postgres" }
  | { readonly kind: "rabbitmq"; readonly url: string }
  | {
      readonly kind: "servicebus";
      readonly access: { readonly connectionString: string } | { readonly host: string };
    };

/** For `refine`: a broker that is chosen must also be named. */
export const namesItsBroker = [
  (env: BrokerEnvironment) =>
    (env.BROKER !== "rabbitmq" || env.RABBITMQ_URL !== undefined) &&
    (env.BROKER !== "servicebus" ||
      (env.SERVICE_BUS_CONNECTION_STRING ?? env.SERVICE_BUS_FQDN) !== undefined),
  {
    path: ["BROKER"] as string[],
    message:
      "needs its address: RABBITMQ_URL for rabbitmq, SERVICE_BUS_CONNECTION_STRING or " +
      "SERVICE_BUS_FQDN for servicebus",
  },
] as const;

/** Without BROKER the address that is set decides; without an address it is PostgreSQL. */
export function toBrokerSettings(env: BrokerEnvironment): BrokerSettings {
  const { SERVICE_BUS_CONNECTION_STRING: connectionString, SERVICE_BUS_FQDN: host } = env;
  const { BROKER: chosen, RABBITMQ_URL: url } = env;
  if (url !== undefined && (chosen ?? "rabbitmq") === "rabbitmq") return { kind: "rabbitmq", url };
  if ((chosen ?? "servicebus") !== "servicebus") return { kind: "postgres" };
  if (connectionString !== undefined) return { kind: "servicebus", access: { connectionString } };
  return host === undefined ? { kind: "postgres" } : { kind: "servicebus", access: { host } };
}
