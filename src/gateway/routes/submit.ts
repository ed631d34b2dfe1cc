import { randomUUID } from "node:crypto";
import type { Caller } from "../../adapters/http/handler.ts";
import { Answer } from "../../adapters/http/handler.ts";
import type { partnerAccepted } from "../../core/api/gateway/partner-schemas.ts";
import type { PartnerSubmission } from "../../core/api/gateway/platform.ts";
import type { Accepted } from "../../core/api/requests.ts";
import { Problem } from "../../core/errors.ts";
import type { z } from "zod";
import type { ForwardedRequest } from "../orchestrator.ts";
import type { RouteDeps } from "./deps.ts";
import type { Partner } from "./partner.ts";
import { demandPartner } from "./partner.ts";

export type PartnerAccepted = z.output<typeof partnerAccepted>;

export interface Submitted {
  readonly accepted: PartnerAccepted;
  /** False: the idempotency key named an earlier submission. */
  readonly created: boolean;
}

/** All submissions pass here: those of the platform, the batch and the OGC routes. */
export async function submit(
  { orchestrator, publicUrl }: Pick<RouteDeps, "orchestrator" | "publicUrl">,
  request: ForwardedRequest & { readonly caller: Caller | undefined },
  given: PartnerSubmission,
): Promise<Submitted> {
  const partner = demandPartner(request.caller);
  const body = {
    ...given,
    ...requestOptions(partner, given),
    platform_id: partner.platformId,
    actor: partner.actor(given.submitted_by),
  };
  const answer = await orchestrator.call(request, (client, forwarded) =>
    client.submitAsset({ body, ...forwarded }),
  );
  return toSubmitted(answer, publicUrl);
}

/** Makes the id of the request, which partners see, so it contains nothing internal. */
export function requestOptions(
  partner: Partner,
  given: { readonly submitted_by?: string | undefined },
): { request_id: string; submitted_by: string } {
  return { request_id: randomUUID(), submitted_by: given.submitted_by ?? partner.keyName };
}

/** Field by field, so that partners do not see the id of the job. */
export function toSubmitted(answer: Accepted, publicUrl: string): Submitted {
  const { request_id, workflow_id, asset_id, version_ordinal, version_label } = answer;
  const { revision, submitted_at, created } = answer;
  return {
    created,
    accepted: {
      request_id,
      status: "accepted",
      workflow_id,
      asset_id,
      version_ordinal,
      version_label,
      revision,
      submitted_at,
      status_url: `${publicUrl}/api/platform/status/${encodeURIComponent(request_id)}`,
    },
  };
}

export function answerSubmitted({ accepted, created }: Submitted): Answer {
  return new Answer(accepted, {
    status: created ? 202 : 200,
    headers: { location: accepted.status_url },
  });
}

/** Takes the key from the header of the IETF draft or from the body; two keys must be equal. */
export function withIdempotencyKey<Given extends { idempotency_key?: string | undefined }>(
  given: Given,
  header: string | undefined,
): Given {
  if (header === undefined) return given;
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  const wrong =
    key.length < 1 || key.length > 128
      ? "must have 1 to 128 characters"
      : given.idempotency_key !== undefined && given.idempotency_key !== key
        ? "differs from the one in the body"
        : undefined;
  if (wrong === undefined) return { ...given, idempotency_key: key };
  throw new Problem("BAD_REQUEST", `The header Idempotency-Key ${wrong}.`);
}
