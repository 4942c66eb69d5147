import type * as z from 'zod';
import type { ApiError } from '../shared/errors.ts';
import type { AuditAction } from './audit.ts';
import type { Scope } from './scopes.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The format of error responses. `oauth`: that of RFC 6749, section 5.2. */
export type ErrorFamily = 'public' | 'completions' | 'application' | 'oauth';

/** Writes an error in the format of a wire that another vendor defines. */
export type ErrorFormat = (
  error: ApiError,
  requestId: string,
) => {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
};

/** Authentication. `key-or-token`: API key or access token; `token`: access token only; `none`: public. */
export type Auth = 'key-or-token' | 'token' | 'none';

/**
 * The rate limits of an operation. Keys: `standard` (minute and day) or `day-exempt` (minute only). Access tokens:
 * the class of the user limiter; `standard`: `reads` for GET, `work` for all else. `unlimited` only where there is no
 * caller.
 */
export interface RateRule {
  readonly key: 'standard' | 'day-exempt' | 'unlimited';
  readonly user: UserRateClass | 'standard' | 'unlimited';
}

/** Rate limit classes of signed-in users; the limits are settings. Each class has its own counter. */
export type UserRateClass =
  | 'reads'
  | 'work'
  | 'ai-tools'
  | 'completions'
  | 'agents-list'
  | 'agents-create'
  | 'agents-update'
  | 'agents-delete'
  | 'session-agents'
  | 'application-ai'
  | 'application-upload'
  | 'application';

/** The access rule for records that an id in path or body refers to. Every operation declares one. */
export type OwnerRule = 'caller' | 'caller-or-shared' | 'public' | 'admin' | 'none';

/** A success response of an operation. */
export interface ResponseDescription {
  readonly description: string;
  /** Describes the data of one event for `text/event-stream`. Absent: no body, or a body that is not JSON. */
  readonly schema?: z.ZodType;
  /** Default `application/json` if there is a schema. */
  readonly contentType?: string;
  /** The request can ask for bytes of this type instead of JSON, e.g. `audio/*`. */
  readonly binary?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OperationInput {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
}

/**
 * The declaration of an operation, without its behaviour. Router, validation, OpenAPI, docs tables and test suites
 * use it.
 */
export interface Operation<
  Input extends OperationInput = OperationInput,
  Output extends Readonly<Record<number, ResponseDescription>> = Readonly<
    Record<number, ResponseDescription>
  >,
  Who extends Auth = Auth,
> {
  /** `operationId` of the description. */
  readonly id: string;
  readonly method: Method;
  /** Path below the mount point; `{name}` is a parameter. */
  readonly path: `/${string}`;
  /** Additional paths of the same operation. */
  readonly aliases?: readonly `/${string}`[];
  /** Its group in the published description. Absent: not part of any description. */
  readonly tag?: string;
  /**
   * The description that lists it. Default: `application` for that error family and `oauth` (`GET /api/openapi.json`),
   * else `public` (`GET /api/v1/openapi.json`).
   */
  readonly side?: 'public' | 'application';
  readonly summary: string;
  readonly description?: string;
  readonly auth: Who;
  /** The key needs one of these scopes. Empty: no scope is required. */
  readonly scopes: readonly Scope[];
  /** The key needs all of these scopes. */
  readonly alsoScopes?: readonly Scope[];
  readonly rate: RateRule;
  readonly owner: OwnerRule;
  readonly family: ErrorFamily;
  /** Writes errors in place of the family. Absent: the format of the family. */
  readonly errorFormat?: ErrorFormat;
  readonly input: Input;
  /** Maximum body size in bytes. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /**
   * `multipart`: the handler reads the body itself. `json-or-form`: the fields also as
   * `application/x-www-form-urlencoded`; only for operations without a credential, because pages of other sites can send
   * forms with cookies. Default: `json`.
   */
  readonly bodyType?: 'json' | 'json-or-form' | 'multipart';
  /** Success responses by status. The first one is the default. */
  readonly output: Output;
  /** Error responses other than the standard ones (401, 403, 404, 405, 413, 422, 429, 500). */
  readonly refusals?: readonly {
    readonly status: number;
    readonly description: string;
    readonly schema?: z.ZodType;
  }[];
  /** The noun of the path's id, for the 404 message. */
  readonly subject?: string;
  /** Application family: the code of that 404. Default `NOT_FOUND`. */
  readonly subjectCode?: string;
  /**
   * Status and code of body validation errors, where they differ from the default: 422 with the family's default code.
   */
  readonly bodyFault?: { readonly status: number; readonly applicationCode: string };
  /** Calls a paid model or tool. While credits are not enforced, each call counts against `paidCallsPerDay`. */
  readonly paid?: boolean;
  /** A GET that changes something: requests from other sites are refused, as those of unsafe methods are. */
  readonly changesOnGet?: boolean;
  /** The entries that it can add to the audit log. Every operation that administers something has some. */
  readonly audit?: readonly AuditAction[];
  /** Supports `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /**
   * On another wire: the id of the operation of the API with the same effect. A host that switches that one off switches
   * off this one too.
   */
  readonly counterpart?: string;
  readonly deprecated?: { readonly since: string; readonly sunset: string };
  /** Allows all CORS origins. Used only by the API description and its page. */
  readonly openOrigin?: boolean;
  /** The component schema of the result to poll, for operations that start a job. */
  readonly pollResult?: string;
}

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;

/** The validated input of a handler. */
export interface ValidatedInput<Op extends Operation> {
  readonly params: Parsed<Op['input']['params']>;
  readonly query: Parsed<Op['input']['query']>;
  readonly body: Parsed<Op['input']['body']>;
}

/** Returns the rate limit class of access tokens, or undefined if there is no limit. */
export function getUserRateClass({
  rate,
  method,
}: Pick<Operation, 'rate' | 'method'>): UserRateClass | undefined {
  if (rate.user === 'unlimited') return undefined;
  if (rate.user === 'standard') return method === 'GET' ? 'reads' : 'work';
  return rate.user;
}

/**
 * Defines an operation and keeps the exact types of its schemas, so that the handler of `defineRoute` has them.
 * @example
 * const greet = defineOperation({
 *   id: 'greet',
 *   method: 'POST',
 *   path: '/api/greetings/{name}',
 *   summary: 'Greet a person',
 *   tag: 'Greetings',
 *   auth: 'key-or-token',
 *   scopes: ['me:read'],
 *   rate: { key: 'standard', user: 'standard' },
 *   owner: 'caller',
 *   family: 'public',
 *   input: { params: z.object({ name: z.string() }), body: z.object({ times: z.int().min(1) }) },
 *   output: { 200: { description: 'The greeting.', schema: z.object({ text: z.string() }) } },
 * });
 */
export function defineOperation<
  const Input extends OperationInput,
  const Output extends Readonly<Record<number, ResponseDescription>>,
  const Who extends Auth,
>(operation: Operation<Input, Output, Who>): Operation<Input, Output, Who> {
  return operation;
}
