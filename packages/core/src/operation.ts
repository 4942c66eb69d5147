import type * as z from 'zod';
import type { Scope } from './identity/scopes.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How failures look on the wire. @see open points, 1.1 */
export type ErrorFamily = 'public' | 'completions' | 'application';

/** Who may call. `key-or-token`: API key or access token; `token`: access token only; `none`: anybody. */
export type Auth = 'key-or-token' | 'token' | 'none';

/**
 * Which ceilings a call counts against.
 * Keys: `standard` (minute and day) or `day-exempt` (minute only).
 * Access tokens: the class of the user limiter, or `unlimited`.
 */
export interface RateRule {
  readonly key: 'standard' | 'day-exempt' | 'unlimited';
  readonly user: UserRateClass | 'unlimited';
}

/** Limits of signed-in users; the numbers are settings. Each class is counted by itself. */
export type UserRateClass =
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

/** Whose record an id in the path or body must be. Every operation decides; see DESIGN rule 10. */
export type OwnerRule = 'caller' | 'caller-or-shared' | 'public' | 'admin' | 'none';

/** One way an operation answers when all is well. */
export interface ResponseDescription {
  readonly description: string;
  /** Absent: no body, or one that is not JSON. */
  readonly schema?: z.ZodType;
  /** Default `application/json` when there is a schema. */
  readonly contentType?: string;
  /** Bytes of this type may stand in the place of the JSON, as the request wishes, e.g. `audio/*`. */
  readonly binary?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OperationInput {
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
}

/** Everything about an operation that is not behaviour. Router, validation, OpenAPI, docs tables and test suites read it. */
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
  /** Below the mount point; `{name}` marks a parameter. */
  readonly path: `/${string}`;
  /** More addresses of the same operation. */
  readonly aliases?: readonly `/${string}`[];
  /** Absent: not part of the published description. */
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  readonly auth: Who;
  /** Any one suffices. Empty: none is enforced. */
  readonly scopes: readonly Scope[];
  /** Every one must be held. */
  readonly alsoScopes?: readonly Scope[];
  readonly rate: RateRule;
  readonly owner: OwnerRule;
  readonly family: ErrorFamily;
  readonly input: Input;
  /** Largest body in bytes. Default: 1 MiB. */
  readonly bodyLimit?: number;
  /** `multipart`: the handler reads the body itself. Default: `json`. */
  readonly bodyType?: 'json' | 'multipart';
  /** Success answers by status; the first one is the usual. */
  readonly output: Output;
  /** Refusals beyond those every operation of its kind has (401, 403, 404, 405, 413, 422, 429, 500). */
  readonly refusals?: readonly {
    readonly status: number;
    readonly description: string;
    readonly schema?: z.ZodType;
  }[];
  /** What a path's id names, for the 404 text. */
  readonly subject?: string;
  /** Application family: the code of that 404, when it is not `NOT_FOUND`. */
  readonly subjectCode?: string;
  /** How faults of the body answer, where the specification says so: default 422 with the family's usual code. */
  readonly bodyFault?: { readonly status: number; readonly applicationCode: string };
  /** `Idempotency-Key` is honoured. */
  readonly idempotent?: boolean;
  readonly deprecated?: { readonly since: string; readonly sunset: string };
  /** CORS for everybody. Only the description and its page. */
  readonly openOrigin?: boolean;
  /** Names the component schema of the polled result, for operations that hand off to a job. */
  readonly pollResult?: string;
}

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;

/** What a handler is given: each part validated. */
export interface InputOf<Op extends Operation> {
  readonly params: Parsed<Op['input']['params']>;
  readonly query: Parsed<Op['input']['query']>;
  readonly body: Parsed<Op['input']['body']>;
}

/** Writes an operation down, keeping the exact types of its schemas. */
export function defineOperation<
  const Input extends OperationInput,
  const Output extends Readonly<Record<number, ResponseDescription>>,
  const Who extends Auth,
>(operation: Operation<Input, Output, Who>): Operation<Input, Output, Who> {
  return operation;
}
