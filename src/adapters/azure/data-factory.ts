/**
 * Runs pipelines of Azure Data Factory through the management API of Azure, with the identity of the
 * machine.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { TokenCredential } from "@azure/identity";
import { z } from "zod";
import { KnownError } from "../runtime/known-error.ts";

export interface DataFactorySettings {
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly factory: string;
  readonly pipeline: string;
  /** The pipeline that deletes; undefined: the worker deletes by itself. */
  readonly withdrawPipeline: string | undefined;
  readonly managementUrl: string;
  readonly pollMs: number;
  /** Of a user-assigned identity. */
  readonly clientId: string | undefined;
}

export interface DataFactory {
  readonly settings: DataFactorySettings;
  /** Starts a run and returns its id. */
  createRun(
    pipeline: string,
    parameters: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<string>;
  /** Waits for the end of a run. Rejects if the run fails or is cancelled. */
  awaitRun(runId: string, signal: AbortSignal): Promise<void>;
}

export class DataFactoryError extends KnownError {
  constructor(code: "ADF_RUN_FAILED" | "ADF_UNAVAILABLE" | "ADF_REFUSED", message: string) {
    super(code, code === "ADF_UNAVAILABLE" ? "transient" : "permanent", message);
  }
}

const apiVersion = "2018-06-01";
const scope = "https://management.azure.com/.default";

const createdRun = z.object({ runId: z.string().min(1) });
const runState = z.object({ status: z.string(), message: z.string().nullish() });

export function createDataFactory(settings: DataFactorySettings): DataFactory {
  const { subscription, resourceGroup, factory, managementUrl } = settings;
  const base =
    `${managementUrl.replace(/\/+$/, "")}/subscriptions/${encodeURIComponent(subscription)}` +
    `/resourceGroups/${encodeURIComponent(resourceGroup)}` +
    `/providers/Microsoft.DataFactory/factories/${encodeURIComponent(factory)}`;
  let credential: TokenCredential | undefined;

  async function call(method: "GET" | "POST", path: string, signal: AbortSignal, body?: unknown) {
    credential ??= await openIdentity(settings.clientId);
    const token = await credential.getToken(scope, { abortSignal: signal });
    const headers = {
      authorization: `Bearer ${token?.token ?? ""}`,
      "content-type": "application/json",
    };
    const answer = await fetch(`${base}${path}?api-version=${apiVersion}`, {
      method,
      headers,
      signal,
      redirect: "error",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw new DataFactoryError("ADF_UNAVAILABLE", `Azure Data Factory: ${String(error)}`);
    });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as unknown;
    const isTemporary = answer.status === 429 || answer.status >= 500;
    throw new DataFactoryError(
      isTemporary ? "ADF_UNAVAILABLE" : "ADF_REFUSED",
      `Azure Data Factory answered ${answer.status}: ${text.slice(0, 500)}`,
    );
  }

  return {
    settings,
    createRun: async (pipeline, parameters, signal) => {
      const path = `/pipelines/${encodeURIComponent(pipeline)}/createRun`;
      return createdRun.parse(await call("POST", path, signal, parameters)).runId;
    },
    awaitRun: async (runId, signal) => {
      for (;;) {
        const path = `/pipelineruns/${encodeURIComponent(runId)}`;
        const { status, message } = runState.parse(await call("GET", path, signal));
        if (status === "Succeeded") return;
        if (["Failed", "Cancelled", "Canceling"].includes(status)) {
          const reason = message == null || message === "" ? "" : `: ${message}`;
          throw new DataFactoryError("ADF_RUN_FAILED", `The run ${runId} is ${status}${reason}`);
        }
        await wait(settings.pollMs, undefined, { signal });
      }
    },
  };
}

/** Loads the package of Azure, which is large, at the first use. */
async function openIdentity(clientId: string | undefined): Promise<TokenCredential> {
  const { DefaultAzureCredential, ManagedIdentityCredential } = await import("@azure/identity");
  return clientId === undefined
    ? new DefaultAzureCredential()
    : new ManagedIdentityCredential({ clientId });
}
