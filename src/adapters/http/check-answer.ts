import type { Contract } from "../../core/api/contract.ts";

/** Throws where an answer is not what its contract promises. */
export function checkAnswer(contract: Contract, body: unknown): void {
  if (contract.media !== undefined) return;
  const sent: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
  const result = contract.response.safeParse(sent);
  if (!result.success) throw new Error(`${contract.id} answers wrongly: ${result.error.message}`);
}
