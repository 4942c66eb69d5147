import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as operations from '@questline/client/operations';
import { describe, expect, it } from 'vitest';
import { createClientDescriptions } from '../../../scripts/client.ts';
import { compile, ROOT } from './compile.ts';

interface Example {
  readonly request?: {
    readonly params?: object;
    readonly query?: object;
    readonly body?: unknown;
  };
  readonly response: { readonly body?: unknown };
}

const examples: Readonly<Record<string, Example>> = Object.assign(
  {},
  ...globSync(join(ROOT, 'packages/core/src/features/*/examples.json')).map((file) =>
    JSON.parse(readFileSync(file, 'utf8')),
  ),
);

/** The parameters of each operation that are numbers: examples have them as they are sent, as text. */
async function getNumbers(): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { paths } of await createClientDescriptions())
    for (const { operationId, parameters = [] } of Object.values(paths).flatMap((methods) =>
      Object.values(methods),
    ))
      for (const { name, schema } of parameters)
        if (schema?.type === 'integer') found.add(`${operationId} ${name}`);
  return found;
}

/** A module that assigns the recorded requests and answers of every operation to its types. */
async function createProgram(): Promise<{ readonly text: string; readonly count: number }> {
  const numbers = await getNumbers();
  const lines = [
    "import type { EventStream, Operation } from '@questline/client';",
    "import type * as operations from '@questline/client/operations';",
    'type Input<T> = T extends Operation<infer I, unknown> ? I : never;',
    'type Output<T> = T extends Operation<unknown, infer O> ? (O extends EventStream<infer F> ? F[] : O) : never;',
  ];
  let count = 0;
  for (const [id, { request = {}, response }] of Object.entries(examples)) {
    const { params, query, body } = request;
    const typed = (values: object): object =>
      Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          name,
          numbers.has(`${id} ${name}`) ? Number(value) : value,
        ]),
      );
    const input = {
      ...(params && { params: typed(params) }),
      ...(query && { query: typed(query) }),
      ...(body !== undefined && { body }),
    };
    const isEmpty = Object.keys(input).length === 0;
    if (!isEmpty)
      lines.push(`export const ${id}Input: Input<typeof operations.${id}> = ${JSON.stringify(input)};`);
    const answer = Array.isArray(response.body)
      ? response.body.filter((event) => event !== '[DONE]' && event.type !== 'error')
      : response.body;
    if (typeof answer === 'object')
      lines.push(`export const ${id}Output: Output<typeof operations.${id}> = ${JSON.stringify(answer)};`);
    if (!isEmpty || typeof answer === 'object') count += 1;
  }
  return { text: lines.join('\n'), count };
}

/** How a reader uses it, and what the compiler has to refuse. */
const USE = `
import { type Completion, chat, collect, complete, createClient, createTokens, entries, follow, followQuest, pages, poll, progress, QuestlineError, upload } from '@questline/client';
import * as operations from '@questline/client/operations';

const client = createClient({ baseUrl: 'http://x', credential: 'key', operations });
const small = createClient({ baseUrl: 'http://x', fetch, operations: { getMe: operations.getMe } });
export const signedIn = createClient({
  credential: createTokens({ load: () => undefined, save: (tokens) => localStorage.setItem('t', JSON.stringify(tokens)) }),
  cookies: 'include',
  headers: async () => ({ 'x-tenant': 'a' }),
});

export async function use(file: File, signal: AbortSignal): Promise<void> {
  const { credits } = await client.getMe();
  credits.balance.toFixed();
  (await small.getMe({}, { signal })).credits.balance.toFixed();
  const session = await client.call(operations.getSession, { params: { id: 'x' } });
  session.id.trim();
  const { data, requestId } = await client.send(operations.listModels, { query: { limit: 1 } });
  data.data.map(({ id }) => id.trim());
  requestId?.trim();
  for await (const { id } of entries(client, operations.listSessions, { query: { limit: 100 } })) id.trim();
  for await (const { messages } of pages(client, operations.listMessages, { params: { id: 'x' } })) messages.map(({ content }) => content.trim());
  for await (const frame of complete(client, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] as const }, { signal })) {
    if (frame.type === 'content') frame.text.trim();
    else if (frame.type === 'tool_use') frame.tools.map(({ name }) => name.trim());
    else if (frame.type === 'meta') frame.requestId.trim();
    else if (frame.type === 'reasoning') frame.text.trim();
    else frame.arguments.trim();
  }
  const whole: Completion = await collect(await client.createCompletion({ body: { model: 'm', messages: [] } }));
  whole.usage?.inputTokens.toFixed();
  const turn = await chat(client, { message: 'Hi', newConversation: true }, { signal });
  for await (const { reply } of turn) reply?.trim();
  (await turn.result()).replies.join();
  for await (const { status } of followQuest(small, turn.id)) status.trim();
  for await (const event of follow(client, operations.getQuestEvents, { params: { id: turn.id } })) {
    if (event.type === 'text') event.text.trim();
    else if (event.type === 'end') event.state.reply?.trim();
  }
  const isFinal = ({ state }: { readonly state: string }) => state === 'succeeded';
  for await (const job of poll(client, operations.getVideoGeneration, { params: { id: 'x' } }, { isFinal })) job.progress?.toFixed();
  const stored = await upload(client, file, { onProgress: ({ loaded, total }) => loaded / (total ?? 1) });
  stored.download_url?.trim();
  await client.transcribeAtOnce({ body: { file } }, { transport: progress(() => undefined) });
  const audio = await client.synthesizeSpeech({ body: { text: 'Hi' } });
  if (audio instanceof Response) await audio.blob();
  const nothing: undefined = await client.deleteFile({ params: { id: 'x' } });
  void nothing;
}

export function show(error: unknown): string {
  if (!(error instanceof QuestlineError)) throw error;
  const { status, code, fields, requestId, retryAfter, charge } = error;
  return [status?.toFixed(), code, fields[0]?.path, requestId, retryAfter?.toFixed(), charge?.credits.toFixed()].join();
}

export async function refuse(): Promise<void> {
  // @ts-expect-error An id is required.
  await client.getSession();
  // @ts-expect-error An id is required.
  await client.call(operations.getSession, { params: {} });
  // @ts-expect-error There is no such operation.
  await client.getNothing();
  // @ts-expect-error It was not passed.
  await small.listSessions();
  // @ts-expect-error A message has a role.
  await client.createCompletion({ body: { model: 'm', messages: [{ content: 'Hi' }] } });
  // @ts-expect-error There is no such field.
  await client.createAgent({ body: { name: 'a', nothing: 1 } });
  // @ts-expect-error It takes no body.
  await client.getMe({ body: {} });
  // @ts-expect-error Not a list with pages.
  pages(client, operations.getMe);
  // @ts-expect-error The end of a stream is no frame.
  for await (const frame of complete(client, { model: 'm', messages: [] })) frame === '[DONE]';
}
`;

/** Applications with the types of a browser, in strict mode. */
const APPLICATION = {
  compilerOptions: {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    customConditions: ['@questline/source'],
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  },
};

describe('types', () => {
  it('accept the recorded requests and answers of every operation', async () => {
    const { text, count } = await createProgram();
    expect(await compile(text, APPLICATION)).toBe('');
    // Bytes and the documents have no examples.
    expect(count).toBeGreaterThan(Object.keys(operations).length - 15);
  });

  it('infer inputs, outputs and frames, and refuse mistakes', async () => {
    expect(await compile(USE, APPLICATION)).toBe('');
  });
});
