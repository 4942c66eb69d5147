import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { nastyText } from '../support/arbitrary.ts';
import { check, createTarget, RUNS, type Target } from './fuzz-target.ts';

/** Node itself refuses a longer head. */
const short = nastyText.map((text) => text.slice(0, 300).toWellFormed());

/** Parts of a path that URLs treat in a special way. */
const ODD = ['.', '..', '%2e%2e', 'a%2Fb', '%00', '%zz', '%', '%c0%af', 'x'.repeat(5000)];

const query = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'limit',
        'order',
        'after',
        'before',
        'purpose',
        'stream',
        'starting_after',
        'include[]',
      ),
      fc.oneof(
        fc.constantFrom('true', 'false', '0', '1', '5', '-1', '1e9', '999', 'asc', 'desc', 'user_data', ''),
        short,
      ),
    ),
    { maxLength: 4 },
  )
  .map((pairs) => new URLSearchParams(pairs).toString());

/** The content of requests that need none. */
const content = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 4 },
  { arbitrary: fc.constantFrom('', '{}', '[]', '{', 'null', '{"stream":true}'), weight: 1 },
);

/** Ids of what exists, mostly, and of what does not. */
function anyOf(ids: readonly string[]): Arbitrary<string> {
  return fc.oneof(
    { arbitrary: fc.constantFrom(...ids, `resp_${'f'.repeat(24)}`, 'f'.repeat(24)), weight: 4 },
    { arbitrary: fc.constantFrom(...ODD), weight: 1 },
    { arbitrary: short.map(encodeURIComponent), weight: 1 },
  );
}

async function createFiles({ app, send }: Target, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const form = new FormData();
    form.append('purpose', 'user_data');
    form.append('file', new Blob([`File ${index}.`], { type: 'text/plain' }), `${index}.txt`);
    const made = await (await send('POST', '/files', form)).json();
    ids.push((made as { id: string }).id);
  }
  await vi.waitFor(async () => {
    await app.settle();
    const last = await (await send('GET', `/files/${ids.at(-1)}`)).json();
    expect(last).toMatchObject({ status: 'processed' });
  });
  return ids;
}

async function createResponses({ send }: Target, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const body = JSON.stringify({ model: 'scripted', input: `Hello ${index}`, background: index % 2 === 0 });
    const made = await (await send('POST', '/responses', body, 'application/json')).json();
    ids.push((made as { id: string }).id);
  }
  return ids;
}

const createModels = async (): Promise<readonly string[]> => ['scripted', 'painter', 'demo-embedding', 'a/b'];

type Operation = readonly [
  title: string,
  method: string,
  create: (target: Target) => Promise<readonly string[]>,
  toPath: (id: string) => string,
];

const few = (create: typeof createFiles) => (target: Target) => create(target, 4);
const many = (create: typeof createFiles) => (target: Target) => create(target, 30);

const OPERATIONS: readonly Operation[] = [
  ['GET /models', 'GET', createModels, () => '/models'],
  ['GET /models/{id}', 'GET', createModels, (id) => `/models/${id}`],
  ['GET /files', 'GET', few(createFiles), () => '/files'],
  ['GET /files/{id}', 'GET', few(createFiles), (id) => `/files/${id}`],
  ['GET /files/{id}/content', 'GET', few(createFiles), (id) => `/files/${id}/content`],
  ['DELETE /files/{id}', 'DELETE', many(createFiles), (id) => `/files/${id}`],
  ['GET /responses/{id}', 'GET', few(createResponses), (id) => `/responses/${id}`],
  ['GET /responses/{id}/input_items', 'GET', few(createResponses), (id) => `/responses/${id}/input_items`],
  ['POST /responses/{id}/cancel', 'POST', few(createResponses), (id) => `/responses/${id}/cancel`],
  ['DELETE /responses/{id}', 'DELETE', many(createResponses), (id) => `/responses/${id}`],
];

describe('generated requests for what is stored', () => {
  it.each(OPERATIONS)(
    'are answered by %s without a 5xx, with errors of the wire',
    async (_title, method, create, toPath) => {
      const target = await createTarget();
      const { app, send } = target;
      const ids = await create(target);
      const statuses = new Map<number, number>();
      const request = fc.tuple(anyOf(ids), query, content);
      await fc.assert(
        fc.asyncProperty(request, async ([id, search, body]) => {
          const sent = method === 'GET' ? undefined : body;
          const { status } = await check(
            app,
            send(
              method,
              `${toPath(id)}?${search}`,
              sent,
              sent === undefined ? undefined : 'application/json',
            ),
          );
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }),
        { numRuns: RUNS },
      );
      expect(statuses.get(200)).toBeGreaterThan(0);
      expect(app.incidents).toEqual([]);
      expect((await app.ledger.balance(app.account)).held).toBe(0);
    },
  );
});
