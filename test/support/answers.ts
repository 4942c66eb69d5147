import type * as operations from '@questline/client/operations';

type Operations = typeof operations;
/** The ids of the operations by method and path. */
type Routes = {
  [Id in keyof Operations as Operations[Id] extends Place<infer Method, infer Path>
    ? `${Method} ${Path}`
    : never]: Id;
};

interface Place<Method extends string, Path extends string> {
  readonly method: Method;
  readonly path: Path;
}

/** Whether a segment of a path fits one of a route. Either may be known in part: a path of two kinds fits both routes. */
type FitsSegment<Path, Segment> = Segment extends `{${string}}`
  ? true
  : Path extends Segment
    ? true
    : Segment extends Path
      ? true
      : false;

type Fits<Path extends string, Route extends string> = Route extends `${infer First}/${infer Rest}`
  ? Path extends `${infer PathFirst}/${infer PathRest}`
    ? FitsSegment<PathFirst, First> extends true
      ? Fits<PathRest, Rest>
      : false
    : false
  : Path extends `${string}/${string}`
    ? false
    : FitsSegment<Path, Route>;

type RouteOf<Request extends string> = Request extends string
  ? { [Route in keyof Routes]: Fits<Request, Route> extends true ? Route : never }[keyof Routes]
  : never;

type OutputOf<Id> = Id extends keyof Operations
  ? NonNullable<Operations[Id]['types']> extends { readonly output: infer Output }
    ? Output
    : never
  : never;

type WithoutQuery<Path extends string> = Path extends `${infer Start}?${string}` ? Start : Path;

type Keys<One> = One extends unknown ? keyof One : never;
type At<One, Key> = One extends unknown
  ? Key extends keyof One
    ? Exclude<One[Key], undefined>
    : never
  : never;

/** Has the fields of all members of a union, as if each were present. */
export type Merged<One> =
  Extract<One, readonly unknown[]> extends never ? { readonly [Key in Keys<One>]: At<One, Key> } : One;

/** The fields of errors in all formats. */
export interface ErrorFields {
  readonly error: string & {
    readonly code: string;
    readonly message: string;
    readonly details: Record<string, string[]>;
  };
  readonly message: string;
  readonly errorCode: string;
  readonly request_id: string;
  readonly name: string;
  readonly quest_id: string;
  readonly maxSize: number;
  readonly providerError: { readonly retryAfter: number };
}

/** The body of an answer to a request, or of its refusal. Unknown for a path that the types do not know. */
export type AnswerBody<Method extends string, Path extends string> = [
  RouteOf<`${Method} ${WithoutQuery<Path>}`>,
] extends [never]
  ? unknown
  : Merged<OutputOf<Routes[RouteOf<`${Method} ${WithoutQuery<Path>}`>]> | ErrorFields>;
