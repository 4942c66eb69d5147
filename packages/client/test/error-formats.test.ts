import type { QuestlineError } from '@questline/client';
import { getMe } from '@questline/client/operations';
import { expect, it } from 'vitest';
import { createScriptedClient, json } from './support.ts';

async function read(
  body: unknown,
  status = 400,
  headers: Record<string, string> = {},
): Promise<QuestlineError> {
  const { client } = createScriptedClient([json(body, status, headers)], { retries: 0 });
  return client.call(getMe).then(
    () => expect.unreachable(),
    (error: QuestlineError) => error,
  );
}

const PROVIDER = { status: 404, code: 'no_model', param: 'model', retryAfter: 3 };

it.each([
  ['a text', { error: 'no' }, { message: 'no', code: undefined, provider: undefined }],
  ['a text with a code', { error: 'no', errorCode: 'budget' }, { message: 'no', code: 'budget' }],
  [
    'a text with a problem of the provider',
    { error: 'no', errorCode: 'provider_rejected', providerError: PROVIDER },
    { message: 'no', code: 'provider_rejected', provider: PROVIDER, retryAfter: 3 },
  ],
  [
    'an object',
    { error: { code: 'VALIDATION_ERROR', message: 'no', details: [{ path: 'a', message: 'b' }] } },
    { message: 'no', code: 'VALIDATION_ERROR', fields: [{ path: 'a', message: 'b' }] },
  ],
  [
    'an object with a problem of the provider',
    { error: { code: 'PROVIDER', message: 'no', details: { providerError: PROVIDER } } },
    { message: 'no', code: 'PROVIDER', provider: PROVIDER, fields: [] },
  ],
  [
    'the format of OAuth',
    { error: 'invalid_grant', error_description: 'ended' },
    { message: 'ended', code: 'invalid_grant' },
  ],
  ['a message', { message: 'no' }, { message: 'no', code: undefined }],
  ['a message beside a text', { message: 'long', error: 'short' }, { message: 'long' }],
  [
    'a message beside an object',
    { message: 'outer', error_description: 'middle', error: { message: 'inner' } },
    { message: 'inner' },
  ],
  ['nothing', {}, { message: 'The server answered 400.', code: undefined, fields: [] }],
  ['null', null, { message: 'The server answered 400.', body: 'null' }],
])('reads an error that is %s', async (_, body, expected) => {
  expect(await read(body)).toMatchObject({ status: 400, body: body ?? 'null', ...expected });
});

it.each([
  [400, { error: 'messages.0.content: expected text' }, 'messages.0.content', 'expected text'],
  [422, { error: 'limit: too\nlarge' }, 'limit', 'too\nlarge'],
  [409, { error: 'limit: too large' }],
  [400, { error: 'limit: too large', errorCode: 'budget' }],
  [400, { error: 'the limit is too large' }],
  [400, { error: 'limit: ' }],
])(
  'finds the field of an answer with status %s and %j',
  async (status, body, path?: string, message?: string) => {
    expect((await read(body, status)).fields).toEqual(path === undefined ? [] : [{ path, message }]);
  },
);

it.each([
  [{ 'x-request-id': 'of the head' }, 'of the head'],
  [{}, 'of the body'],
])('has the id of the request with the headers %j', async (headers, id) => {
  expect((await read({ request_id: 'of the body' }, 500, headers)).requestId).toBe(id);
});

it.each([
  ['7', 7],
  ['0', 0],
  ['Sat, 21 Nov 2026 12:00:00 GMT', 3],
  [undefined, 3],
])('with Retry-After %j waits for %s seconds', async (after, seconds) => {
  const headers = after === undefined ? undefined : { 'retry-after': after };
  expect((await read({ error: 'no', providerError: PROVIDER }, 503, headers)).retryAfter).toBe(seconds);
});

it('has no wait without a number of seconds', async () => {
  expect((await read({ error: 'no' }, 503, { 'retry-after': 'soon' })).retryAfter).toBeUndefined();
  expect((await read({ error: 'no' }, 503)).retryAfter).toBeUndefined();
});
