import type { Answer, CallArguments, CallOptions, Fetch, Operation } from './operation.ts';
import { createSender } from './send.ts';
import { sleep } from './wait.ts';

/**
 * Returns the bearer token of a request; undefined: none. It is called for each request, and once more with `rejected` when the
 * server answered 401, so that it can return another token. Requests in parallel share that call.
 */
export type CredentialSource = (
  context: CredentialContext,
) => Promise<string | undefined> | string | undefined;

export interface CredentialContext {
  /** The token that the server rejected. */
  readonly rejected?: string;
  /** Calls an operation that takes no credential, to renew the token. */
  readonly call: Caller;
}

/** Calls an operation and returns the body of its answer. Rejects with a QuestlineError. */
export type Caller = <Input, Output>(
  operation: Operation<Input, Output>,
  ...args: CallArguments<Input>
) => Promise<Output>;

export interface ClientOptions {
  /** The address of the mount point, such as `https://ai.example.com`. Default: the origin of the page. */
  readonly baseUrl?: string;
  /** An API key or access token, or a function that returns one: see `createTokens`. Default: none, for sessions in cookies. */
  readonly credential?: string | CredentialSource;
  /** Headers of every request, except uploads to signed links. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);
  /** `include` sends cookies to another origin. Default: that of `fetch`, the same origin alone. */
  readonly cookies?: NonNullable<RequestInit['credentials']>;
  /** Default: the global one. */
  readonly fetch?: Fetch;
  /** Maximum repetitions of a request that may be repeated: docs/guides/client.md. Default 2. */
  readonly retries?: number;
  /** A longer `Retry-After` is not waited for: the call rejects. Milliseconds, default 30,000. */
  readonly maxRetryDelayMs?: number;
  /** Waits before retries and between polls. Rejects with the reason of an aborted signal. Default: a timer. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export interface Client {
  readonly call: Caller;
  /** Like `call`, with status and headers. */
  send<Input, Output>(
    operation: Operation<Input, Output>,
    ...args: CallArguments<Input>
  ): Promise<Answer<Output>>;
  /** The `wait` option. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

/** Operations by name. */
export type Operations = Readonly<Record<string, Operation>>;

/** A method for each operation. */
export type Methods<Ops> = {
  readonly [Name in keyof Ops]: Ops[Name] extends Operation<infer Input, infer Output>
    ? (...args: CallArguments<Input>) => Promise<Output>
    : never;
};

/**
 * Creates a client of the API.
 * @param options `operations`: those that become methods. A bundle contains only these.
 * @example
 * import { createClient } from '@questline/client';
 * import * as operations from '@questline/client/operations';
 *
 * const client = createClient({ baseUrl: 'https://ai.example.com', credential: key, operations });
 * const { data } = await client.listSessions({ query: { limit: 10 } });
 */
export function createClient<const Ops extends Operations = Record<never, never>>(
  options: ClientOptions & { readonly operations?: Ops } = {},
): Client & Methods<Ops> {
  const { baseUrl = '', wait = sleep } = options;
  const operations: Operations = options.operations ?? {};
  if (baseUrl === '' && (globalThis as { location?: unknown }).location === undefined)
    throw new TypeError('baseUrl: outside of pages it is required');
  const send = createSender({ ...options, baseUrl: baseUrl.replace(/\/+$/, ''), wait });
  const sendTyped: Client['send'] = async (operation, ...[input, callOptions]) =>
    (await send(operation, input ?? {}, callOptions)) as never;
  const call: Caller = async (operation, ...args) => (await sendTyped(operation, ...args)).data;
  const methods = Object.entries(operations).map(([name, operation]) => [
    name,
    (input?: unknown, callOptions?: CallOptions) => call(operation, input, callOptions),
  ]);
  return { ...(Object.fromEntries(methods) as Methods<Ops>), call, send: sendTyped, wait };
}
