/**
 * Every error code of the platform: its HTTP status, its fixed title, and whether repeating the
 * same request can help. The details of one case go into `detail`.
 */
export const errorCatalogue = {
  BAD_REQUEST: { status: 400, title: "The request is not valid", retry: false },
  INVALID_INPUTS: { status: 400, title: "The inputs do not fit the workflow", retry: false },
  INVALID_WORKFLOW: { status: 400, title: "The workflow has errors", retry: false },
  INVALID_FILTER: { status: 400, title: "The filter cannot be read", retry: false },
  INVALID_SUBMISSION: { status: 400, title: "The submission has errors", retry: false },
  UNAUTHENTICATED: { status: 401, title: "A token is required", retry: false },
  FORBIDDEN: { status: 403, title: "The token does not allow this", retry: false },
  LINK_NOT_VALID: { status: 403, title: "The link is not valid, or no longer", retry: false },
  NOT_FOUND: { status: 404, title: "There is no such thing", retry: false },
  JOB_NOT_FOUND: { status: 404, title: "There is no such job", retry: false },
  NODE_NOT_FOUND: { status: 404, title: "The job has no such node", retry: false },
  WORKFLOW_NOT_FOUND: { status: 404, title: "There is no such workflow", retry: false },
  HANDLER_NOT_FOUND: { status: 404, title: "There is no such handler", retry: false },
  HANDLER_RESERVED: { status: 403, title: "The handler's name is reserved", retry: false },
  WORKER_NOT_REGISTERED: { status: 409, title: "The worker is not registered", retry: false },
  HANDLER_IN_USE: { status: 409, title: "The handler is in use", retry: false },
  QUEUE_NOT_FOUND: { status: 404, title: "There is no such queue", retry: false },
  COMMAND_NOT_FOUND: { status: 404, title: "There is no such command", retry: false },
  NO_SUCH_PROCESS: {
    status: 404,
    title: "There is no such process",
    retry: false,
    type: "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/no-such-process",
  },
  NO_SUCH_JOB: {
    status: 404,
    title: "There is no such job of this process",
    retry: false,
    type: "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/no-such-job",
  },
  RESULT_NOT_READY: {
    status: 404,
    title: "The results are not there yet",
    retry: true,
    type: "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/result-not-ready",
  },
  RESULT_FAILED: { status: 409, title: "There are no results: it failed", retry: false },
  COLLECTION_NOT_FOUND: { status: 404, title: "There is no such collection", retry: false },
  ITEM_NOT_FOUND: { status: 404, title: "The collection has no such item", retry: false },
  COLLECTION_EXISTS: { status: 409, title: "There is such a collection already", retry: false },
  COLLECTION_NOT_EMPTY: { status: 409, title: "The collection has items", retry: false },
  ITEM_EXISTS: { status: 409, title: "The collection has such an item already", retry: false },
  ITEM_GOVERNED: { status: 409, title: "The item belongs to a version of an asset", retry: false },
  OUTSIDE_LAYER: { status: 404, title: "The layer does not reach there", retry: false },
  PLATFORM_NOT_FOUND: { status: 404, title: "There is no such platform", retry: false },
  ASSET_NOT_FOUND: { status: 404, title: "There is no such asset", retry: false },
  VERSION_NOT_FOUND: { status: 404, title: "The asset has no such version", retry: false },
  REVISION_NOT_FOUND: { status: 404, title: "The version has no such revision", retry: false },
  REQUEST_NOT_FOUND: { status: 404, title: "There is no such request", retry: false },
  KEY_NOT_FOUND: { status: 404, title: "There is no such key", retry: false },
  DELIVERY_NOT_FOUND: { status: 404, title: "There is no such delivery", retry: false },
  METADATA_NOT_FOUND: { status: 404, title: "The asset has no layer metadata", retry: false },
  LAYER_NOT_FOUND: { status: 404, title: "Nothing is served here", retry: false },
  METHOD_NOT_ALLOWED: { status: 405, title: "The method is not allowed here", retry: false },
  REQUEST_TIMEOUT: { status: 408, title: "The request did not arrive in time", retry: true },
  JOB_FINISHED: { status: 409, title: "The job is already finished", retry: false },
  JOB_NOT_FINISHED: { status: 409, title: "The job is not finished yet", retry: true },
  WORKFLOW_CHANGED: { status: 409, title: "The workflow has changed too much", retry: false },
  NOTHING_TO_RETRY: { status: 409, title: "The job has no failed node", retry: false },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    title: "The idempotency key was used for another request",
    retry: false,
  },
  TOKEN_NAME_TAKEN: { status: 409, title: "A valid token has this name", retry: false },
  PLATFORM_IN_USE: { status: 409, title: "The platform has assets already", retry: false },
  TOO_MANY_KEYS: { status: 409, title: "The platform has too many keys", retry: false },
  PLATFORM_INACTIVE: { status: 409, title: "The platform is switched off", retry: false },
  VERSION_UNRESOLVED: { status: 409, title: "An earlier version is unresolved", retry: false },
  VERSION_BUSY: { status: 409, title: "The version is being processed", retry: true },
  VERSION_NOT_PROCESSED: { status: 409, title: "The version was not processed", retry: false },
  TRANSITION_REFUSED: { status: 409, title: "Its state does not allow this", retry: false },
  EDIT_CONFLICT: {
    status: 409,
    title: "It was changed by another request meanwhile",
    retry: false,
  },
  STALE_ATTEMPT: { status: 409, title: "The task is no longer the current attempt", retry: false },
  SWITCHED_OFF: { status: 403, title: "This is switched off in the configuration", retry: false },
  UPLOAD_NOT_FOUND: { status: 404, title: "There is no such upload", retry: false },
  UPLOAD_OFFSET: { status: 409, title: "The part does not follow the last one", retry: false },
  UPLOAD_TOO_LARGE: { status: 413, title: "The file is larger than is allowed", retry: false },
  FILE_EXISTS: { status: 409, title: "There is a file already", retry: false },
  FILE_IN_USE: { status: 409, title: "The file is in use", retry: false },
  TUS_VERSION: { status: 412, title: "The version of tus is not spoken here", retry: false },
  CHECKSUM_MISMATCH: { status: 460, title: "The bytes are not those that were sent", retry: true },
  PAYLOAD_TOO_LARGE: { status: 413, title: "The body is too large", retry: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: "The body must be JSON", retry: false },
  RANGE_NOT_SATISFIABLE: { status: 416, title: "The object is shorter", retry: false },
  TOO_MANY_REQUESTS: { status: 429, title: "Too many requests", retry: true },
  LAYER_UNREADABLE: { status: 422, title: "The layer cannot be shown", retry: false },
  EDIT_NEEDS_MATCH: { status: 428, title: "Say which state is changed: If-Match", retry: false },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: "The headers or the address are too long",
    retry: false,
  },
  INTERNAL: { status: 500, title: "Something went wrong on our side", retry: true },
  BAD_GATEWAY: { status: 502, title: "A part of the platform answered wrongly", retry: true },
  UNAVAILABLE: { status: 503, title: "A part of the platform is not available", retry: true },
} as const satisfies Record<string, CatalogueEntry>;

interface CatalogueEntry {
  readonly status: number;
  readonly title: string;
  readonly retry: boolean;
  /** The name that a standard gives this error. */
  readonly type?: string;
}

export type ErrorCode = keyof typeof errorCatalogue;

/** One error in a request, at a JSON pointer into it. */
export interface ProblemItem {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
}

/** Thrown by the code that refuses a request; the HTTP server answers it as problem+json. */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly items: readonly ProblemItem[];
  /** Seconds until a retry makes sense, if known. */
  readonly retryAfterSeconds: number | undefined;
  /** HTTP headers of the answer. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail: string,
    items: readonly ProblemItem[] = [],
    options: { retryAfterSeconds?: number; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.name = "Problem";
    this.code = code;
    this.items = items;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return errorCatalogue[this.code].status;
  }
}
