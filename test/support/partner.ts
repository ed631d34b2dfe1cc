import { expect } from "vitest";
import { waitFor } from "./wait.ts";

export interface PartnerAccepted {
  readonly request_id: string;
  readonly asset_id: string;
  readonly version_ordinal: number;
  readonly revision: number;
}

export interface PartnerVersion {
  readonly version_ordinal: number;
  readonly approval_state: string;
  readonly processing_state: string;
  readonly revision: number;
  readonly content_hash: string | null;
  readonly same_content_as: number | null;
  readonly export_state: string | null;
  readonly external_blob_path: string | null;
}

export interface PartnerAsset {
  readonly clearance_state: string;
  readonly latest_approved_version_ordinal: number | null;
  readonly versions: readonly PartnerVersion[];
}

/** A partner's program: it knows the gateway's address and its key, and nothing else. */
export class Partner {
  /** Every answer it ever got. */
  readonly answers: string[] = [];
  private readonly url: string;
  private readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  async call<Body>(method: string, at: string, body?: object, expected?: number): Promise<Body> {
    const answer = await fetch(this.url + at, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    this.answers.push(JSON.stringify([...answer.headers]) + text);
    if (expected === undefined) expect(answer.ok, `${method} ${at}: ${text}`).toBe(true);
    else expect([at, answer.status, text]).toEqual([at, expected, text]);
    return JSON.parse(text) as Body;
  }

  /** Submits, and waits until it is processed. */
  async submit(body: object): Promise<PartnerAccepted> {
    const accepted = await this.call<PartnerAccepted>("POST", "/api/platform/submit", body, 202);
    await this.ended(accepted.request_id);
    return accepted;
  }

  async ended(requestId: string, timeoutMs = 60_000): Promise<void> {
    const found = await waitFor(
      async () => {
        const at = `/api/platform/status/${requestId}`;
        const request = await this.call<{ status: string; error: unknown }>("GET", at);
        return request.status !== "pending" && request.status !== "running" && request;
      },
      { what: `the end of ${requestId}`, timeoutMs, isFinal: true },
    );
    expect(found).toMatchObject({ status: "completed", error: null });
  }

  async decide(
    assetId: string,
    ordinal: number,
    verb: string,
    body: object,
  ): Promise<PartnerAsset> {
    const at = `/api/assets/${assetId}/versions/${ordinal}/${verb}`;
    return this.call<PartnerAsset>("POST", at, { actor: "carol", ...body });
  }
}
