import type { HandlerContext } from "../../define-handler.ts";

/** Every path below a prefix, page by page. */
export async function* listAll(
  { storage, signal }: HandlerContext,
  prefix: string,
): AsyncGenerator<string[]> {
  let cursor: string | undefined;
  do {
    signal.throwIfAborted();
    const options = cursor === undefined ? {} : { cursor };
    const page = await storage.list(prefix, { limit: 1000, ...options });
    yield page.items.map(({ path }) => path);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}
