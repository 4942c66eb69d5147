import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { ASK, createOpenAIApp, type OpenAIApp, readError } from './support.ts';

type Options = Parameters<typeof createOpenAIApp>[0];

/** An app whose provider has no place for some fields. */
async function setUp(ignored: readonly ('topP' | 'seed')[] = [], options: Options = {}) {
  const model = createScriptedProvider(sayAtOnce('Hello.'), [
    SCRIPTED_MODEL,
    { ...SCRIPTED_MODEL, id: 'painter', type: 'image' },
  ]);
  return createOpenAIApp({ ...options, models: [{ ...model, ignores: () => ignored }] });
}

const ask = (app: OpenAIApp, more: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  app.send('POST', '/chat/completions', { ...ASK, ...more }, headers);

describe('the headers of an answer', () => {
  it.each([
    [[], null],
    [['topP'], 'top_p'],
    [['seed', 'topP'], 'seed, top_p'],
  ] as const)(
    'name the fields of the request that the provider has no place for: %j',
    async (ignored, names) => {
      const { headers } = await ask(await setUp(ignored), { top_p: 0.5, seed: 7 });
      expect(headers.get('x-ignored-fields')).toBe(names);
    },
  );

  it('say only of a repetition that it is one', async () => {
    const app = await setUp();
    const once = async () =>
      (await ask(app, {}, { 'Idempotency-Key': 'k' })).headers.get('idempotent-replayed');
    expect([await once(), await once()]).toEqual([null, 'true']);
  });

  it('name no credits while they are not enforced', async () => {
    const settings = { admin: { DefaultAPIModel: 'scripted', enforceCredits: false } };
    const response = await ask(await setUp([], { settings }));
    expect(response.headers.has('x-credits-used')).toBe(false);
    expect(await response.json()).not.toHaveProperty('credits');
  });
});

it('refuses a model that does not chat, by its name', async () => {
  const response = await ask(await setUp(), { model: 'painter' });
  expect(response.status).toBe(404);
  expect((await readError(response)).message).toContain("'painter' is not a chat model");
});
