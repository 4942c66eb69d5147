import type { Client } from './client.ts';
import type { CallArguments, CallOptions, PagedOperation, PageRule } from './operation.ts';

type Entry<Output, Entries extends keyof Output> = Output[Entries] extends readonly (infer T)[] ? T : never;

interface Answered {
  readonly next_cursor?: string | null;
  readonly hasMore?: boolean;
  readonly pagination?: { readonly hasNext?: boolean; readonly hasMore?: boolean };
}

/**
 * The pages of a list, from the page of the input on.
 * @example
 * for await (const { data } of pages(client, listSessions, { query: { limit: 100 } })) console.log(data.length);
 */
export async function* pages<Input, Output, Entries extends keyof Output>(
  client: Client,
  operation: PagedOperation<Input, Output, Entries>,
  ...[input, options]: CallArguments<Input>
): AsyncGenerator<Output, void> {
  const { page } = operation;
  let query: Readonly<Record<string, unknown>> =
    (input as { query?: Readonly<Record<string, unknown>> } | undefined)?.query ?? {};
  for (;;) {
    const answer = await client.call(
      operation,
      ...([{ ...input, query }, options] as unknown as CallArguments<Input>),
    );
    yield answer;
    const next = getNext(
      page,
      query,
      answer as Answered,
      (answer[operation.page.entries] as unknown[]).length,
    );
    if (next === undefined) return;
    query = { ...query, [page.by]: next };
  }
}

/** The entries of all pages. */
export async function* entries<Input, Output, Entries extends keyof Output>(
  client: Client,
  operation: PagedOperation<Input, Output, Entries>,
  ...args: [input?: Input | undefined, options?: CallOptions]
): AsyncGenerator<Entry<Output, Entries>, void> {
  for await (const page of pages(client, operation, ...(args as CallArguments<Input>)))
    yield* page[operation.page.entries] as Iterable<Entry<Output, Entries>>;
}

/** Returns the value of the query parameter for the next page; undefined: this was the last. */
function getNext(
  { by }: PageRule,
  query: Readonly<Record<string, unknown>>,
  { next_cursor: cursor, hasMore, pagination }: Answered,
  length: number,
): string | number | undefined {
  if (by === 'cursor') return cursor ?? undefined;
  const isLast = !(hasMore ?? pagination?.hasNext ?? pagination?.hasMore ?? false);
  // An empty page with a next one would never end.
  if (isLast || length === 0) return undefined;
  return by === 'offset' ? Number(query[by] ?? 0) + length : Number(query[by] ?? 1) + 1;
}
