/**
 * The remaining allowance of a caller. It fills at a steady rate up to a burst, so that a partner
 * may send a hundred requests at once and must then keep to the rate.
 */
export interface Bucket {
  readonly tokens: number;
  /** The time of the last refill, in milliseconds. */
  readonly at: number;
}

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export type Taken =
  | { readonly allowed: true; readonly bucket: Bucket }
  | { readonly allowed: false; readonly bucket: Bucket; readonly retryAfterSeconds: number };

/** A request that costs more than a whole burst passes a full bucket, which then owes the rest. */
export function takeTokens(
  bucket: Bucket | undefined,
  rate: Rate,
  now: number,
  cost: number,
): Taken {
  const { burst, perSecond } = rate;
  const before = bucket ?? { tokens: burst, at: now };
  const grown = (Math.max(0, now - before.at) / 1000) * perSecond;
  const tokens = Math.min(burst, before.tokens + grown);
  const needed = Math.min(cost, burst);
  if (tokens >= needed) return { allowed: true, bucket: { tokens: tokens - cost, at: now } };
  const retryAfterSeconds = Math.max(1, Math.ceil((needed - tokens) / perSecond));
  return { allowed: false, bucket: { tokens, at: now }, retryAfterSeconds };
}
