/**
 * The cookie of a console session. Over https it has the prefix `__Host-`, with which a browser accepts
 * it from this very host over https only, so no neighbouring host can set it. Plain http, as on the
 * user's own machine, cannot have such a cookie.
 */
type Header = (name: string) => string | undefined;

const plainName = "rmhdag_session";
const secureName = `__Host-${plainName}`;

/**
 * A proxy that ends TLS says so in this header. The header is not checked: a client that sends it only
 * changes which of its own cookies is read.
 */
function isHttps(header: Header): boolean {
  return header("x-forwarded-proto")?.split(",", 1)[0]?.trim() === "https";
}

export function readSessionCookie(header: Header): string | undefined {
  const wanted = isHttps(header) ? secureName : plainName;
  for (const pair of header("cookie")?.split(";") ?? []) {
    const at = pair.indexOf("=");
    const value = pair.slice(at + 1).trim();
    if (pair.slice(0, at).trim() === wanted && /^[\w-]{1,128}$/.test(value)) return value;
  }
  return undefined;
}

/** The header that sets the cookie; without a secret it removes it. */
export function sessionCookie(
  header: Header,
  secret: { readonly value: string; readonly seconds: number } | undefined,
): { readonly "set-cookie": string } {
  const https = isHttps(header);
  const { value, seconds } = secret ?? { value: "", seconds: 0 };
  const parts = [
    `${https ? secureName : plainName}=${value}`,
    "Path=/",
    `Max-Age=${Math.ceil(seconds)}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(https ? ["Secure"] : []),
  ];
  return { "set-cookie": parts.join("; ") };
}
