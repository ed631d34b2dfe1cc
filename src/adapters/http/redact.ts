const secret = /^(?:token|access_token|sig|signature|code|key|password)$/i;

/** The address for the log: login links and signed URLs carry secrets in their query. */
export function redactUrl(url: string): string {
  const at = url.indexOf("?");
  if (at < 0) return url;
  const pairs = url.slice(at + 1).split("&");
  const shown = pairs.map((pair) => {
    const name = pair.split("=", 1)[0] ?? "";
    return secret.test(name) ? `${name}=[redacted]` : pair;
  });
  return `${url.slice(0, at)}?${shown.join("&")}`;
}
