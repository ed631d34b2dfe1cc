import type { ApiRequest } from "./handler.ts";
import type { Contract } from "../../core/api/contract.ts";

/**
 * The address by which the caller reached this server: links must lead back through the same proxies.
 * The headers are not checked against a list, so the address is used only in the answer to their own
 * request.
 */
export function baseOf(request: Pick<ApiRequest<Contract>, "header">): string {
  const first = (name: string) => request.header(name)?.split(",", 1)[0]?.trim();
  const host = first("x-forwarded-host") ?? request.header("host") ?? "localhost";
  const scheme = first("x-forwarded-proto") === "https" ? "https" : "http";
  const prefix = first("x-forwarded-prefix") ?? "";
  const isHost = /^[\w.:[\]-]+$/.test(host) && URL.canParse(`${scheme}://${host}`);
  const plain = isHost ? host : "localhost";
  return `${scheme}://${plain}${/^(?:\/[\w.-]+)*$/.test(prefix) ? prefix : ""}`;
}
