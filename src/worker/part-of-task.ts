import type { HandlerContext } from "./define-handler.ts";

/**
 * The context of a part of a task, with a folder or a signal of its own. A copy by `{ ...context }` would
 * lack the accessors that a worker's context has.
 */
export function partOfTask(
  context: HandlerContext,
  own: Partial<Pick<HandlerContext, "workDir" | "signal">>,
): HandlerContext {
  return Object.create(context, Object.getOwnPropertyDescriptors(own)) as HandlerContext;
}
