import type { ServerResponse } from "node:http";

/** One for all requests: a new error with its stack is slow. */
const clientGone = new DOMException("The client is gone.", "AbortError");

/**
 * Aborts what a request has started when its client goes away. The AbortController is made when the
 * signal is first read: most handlers read none, and making and aborting one took a twentieth of an
 * orchestrator that takes submissions.
 */
export class RequestAborter {
  private readonly response: ServerResponse;
  private made: AbortController | undefined;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  get signal(): AbortSignal {
    return this.controller().signal;
  }

  abort(): void {
    this.controller().abort();
  }

  private controller(): AbortController {
    if (this.made !== undefined) return this.made;
    const controller = new AbortController();
    this.made = controller;
    const abort = () => {
      controller.abort(clientGone);
    };
    if (this.response.closed) abort();
    else this.response.once("close", abort);
    return controller;
  }
}
