/** How the caller names this server, for links in answers. Empty: links start with a slash. */
export function ownAddress(header: (name: string) => string | undefined): string {
  const host = header("x-forwarded-host") ?? header("host") ?? "";
  if (!/^[\w.-]{1,253}(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host)) return "";
  const scheme = header("x-forwarded-proto") === "https" ? "https" : "http";
  return `${scheme}://${host}`;
}
