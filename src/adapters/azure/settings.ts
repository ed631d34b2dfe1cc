import { z } from "zod";
import type { DataFactorySettings } from "./data-factory.ts";

/** Azure Data Factory copies public data to the external zone if these name a factory. */
export const dataFactoryEnvironment = {
  ADF_SUBSCRIPTION_ID: z.string().min(1).optional(),
  ADF_RESOURCE_GROUP: z.string().min(1).optional(),
  ADF_FACTORY_NAME: z.string().min(1).optional(),
  ADF_PIPELINE_NAME: z.string().min(1).default("rmhdag_export"),
  ADF_WITHDRAW_PIPELINE_NAME: z.string().min(1).optional(),
  ADF_MANAGEMENT_URL: z.url({ protocol: /^https?$/ }).default("https://management.azure.com"),
  ADF_POLL_SECONDS: z.coerce.number().positive().max(3600).default(15),
  AZURE_CLIENT_ID: z.string().min(1).optional(),
};

type Given = z.output<z.ZodObject<typeof dataFactoryEnvironment>>;

const named = ["ADF_SUBSCRIPTION_ID", "ADF_RESOURCE_GROUP", "ADF_FACTORY_NAME"] as const;

/** For `refine`: a factory is named whole or not at all. */
export const namesItsFactory = [
  (given: Given) => new Set(named.map((name) => given[name] === undefined)).size === 1,
  {
    path: ["ADF_FACTORY_NAME"] as string[],
    message: `needs all of ${named.join(", ")}, or none of them`,
  },
] as const;

export function toDataFactorySettings(given: Given): DataFactorySettings | undefined {
  const {
    ADF_SUBSCRIPTION_ID: subscription,
    ADF_RESOURCE_GROUP: resourceGroup,
    ADF_FACTORY_NAME: factory,
  } = given;
  if (subscription === undefined || resourceGroup === undefined || factory === undefined) {
    return undefined;
  }
  return {
    subscription,
    resourceGroup,
    factory,
    pipeline: given.ADF_PIPELINE_NAME,
    withdrawPipeline: given.ADF_WITHDRAW_PIPELINE_NAME,
    managementUrl: given.ADF_MANAGEMENT_URL,
    pollMs: given.ADF_POLL_SECONDS * 1000,
    clientId: given.AZURE_CLIENT_ID,
  };
}
