/** How long a server waits for those who are slow to say what they want. */
export interface Patience {
  /** Until the headers of a request are there. */
  readonly headersMs: number;
  /** Until all of a request is there. */
  readonly requestMs: number;
  readonly mostConnections: number;
}

/** Node looks at its connections only every 30 seconds unless told, however short the limits are. */
export function limitsOf(patience: Patience | undefined) {
  if (patience === undefined) return {};
  const { headersMs, requestMs } = patience;
  const connectionsCheckingInterval = Math.max(50, Math.floor(Math.min(headersMs, requestMs) / 4));
  return {
    requestTimeout: requestMs,
    http: { headersTimeout: headersMs, connectionsCheckingInterval },
  };
}
