/** What a request of an operation needs, and the types of its input and output. */
export interface Operation<Input = unknown, Output = unknown> {
  /** `operationId` of the API description. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the mount point; `{name}` is a parameter. */
  readonly path: string;
  /** Takes no credential. */
  readonly open?: true;
  /** Accepts an `Idempotency-Key`: repeated requests with one key are executed and charged once. */
  readonly idempotent?: true;
  /** The body is sent as `multipart/form-data`. */
  readonly isForm?: true;
  /** Absent: not a list with pages. */
  readonly page?: PageRule;
  /** Never set: carries the types. */
  readonly types?: { readonly input: Input; readonly output: Output };
}

/** How the next page of a list is requested. */
export interface PageRule {
  /** The query parameter that selects the page. */
  readonly by: 'cursor' | 'page' | 'pagination[page]' | 'offset';
  /** The property of the answer that has the entries. */
  readonly entries: string;
}

/** An operation that returns a list in pages. */
export interface PagedOperation<
  Input = unknown,
  Output = unknown,
  Entries extends keyof Output = keyof Output,
> extends Operation<Input, Output> {
  readonly page: PageRule & { readonly entries: Entries };
}

/** The input of an operation without parameters and body. */
export interface NoInput {
  readonly params?: undefined;
  readonly query?: undefined;
  readonly body?: undefined;
}

/** Options of a single call. */
export interface CallOptions {
  /** Aborts the call, its retries and its stream. The call rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** In addition to those of the client. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: a random key for each call of an operation that accepts one. Pass your own to repeat a call later. */
  readonly idempotencyKey?: string;
  /** Default: the `retries` of the client. */
  readonly retries?: number;
  /** Replaces `fetch` for this call; receives the `fetch` option of the client. See `progress`. */
  readonly transport?: Transport;
}

/** The arguments of a `fetch`. Not every environment declares `duplex`, which a body that streams needs. */
export type FetchInit = RequestInit & { readonly duplex?: 'half' };

export type Fetch = (input: string, init: FetchInit) => Promise<Response>;

export type Transport = (fetch: Fetch | undefined) => Fetch;

/** The arguments of a call. The input may be left out if all of it is optional. */
export type CallArguments<Input> =
  Partial<Input> extends Input
    ? [input?: Input | undefined, options?: CallOptions]
    : [input: Input, options?: CallOptions];

/** An answer with what the body does not contain. */
export interface Answer<Output> {
  readonly status: number;
  readonly headers: Headers;
  /** The correlation id of the request: quote it in reports. */
  readonly requestId: string | undefined;
  readonly data: Output;
}
