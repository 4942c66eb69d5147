import { createAnthropicApi } from '@questline/anthropic';
import type { ModelInfo } from '@questline/core/ports';
import { createOpenAIApi } from '@questline/openai';
import { describe, expect, it } from 'vitest';
import { createChatApp, silent } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';
import { toHandler } from '../wires/app.ts';

const PLAIN: ModelInfo = {
  ...{ id: 'plain', name: 'Plain', type: 'text', provider: 'scripted', supportsTools: true },
  ...{ contextWindow: 1000, maxOutputTokens: 100, prices: { input: 3, output: 3 } },
};
const LEAVING: ModelInfo = {
  ...PLAIN,
  ...{ id: 'leaving', name: 'Leaving', checkedOn: '2026-01-31', deprecationDate: '2027-01-02' },
  ...{ contextWindow: 2000, maxOutputTokens: 200, prices: { input: 1, output: 1 } },
};
const RETIRED: ModelInfo = { ...PLAIN, id: 'gone', deprecationDate: '2026-01-02', replacedBy: 'plain' };
const DRAWING: ModelInfo = { ...PLAIN, id: 'painter', type: 'image', checkedOn: 'soon' };

async function open(
  create: typeof createOpenAIApi | typeof createAnthropicApi,
  models: readonly ModelInfo[],
) {
  const app = await createChatApp({
    model: createScriptedProvider(silent, models),
    settings: { admin: {} },
    started: false,
  });
  const handle = toHandler(create(app.services), '/vendor');
  return async (path: string, key = app.key) => {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await handle(new Request(`http://questline.test/vendor/v1/models${path}`, { headers }));
    return {
      status: response.status,
      body: (await response.json()) as { readonly error: { readonly message: string } },
    };
  };
}

describe.each([
  ['OpenAI', createOpenAIApi],
  ['Anthropic', createAnthropicApi],
])('models of the %s API', (_name, create) => {
  const plain = {
    ...{ id: 'plain', object: 'model', type: 'model', created: 0, created_at: '1970-01-01T00:00:00.000Z' },
    ...{ owned_by: 'scripted', display_name: 'Plain', shutdown_date: null, kind: 'text' },
    ...{ context_window: 1000, max_input_tokens: 1000, max_output_tokens: 100, max_tokens: 100 },
    ...{ capabilities: null, lifecycle: 'active', deprecated_at: null, retires_at: null, line: null },
  };
  const leaving = {
    ...plain,
    ...{ id: 'leaving', display_name: 'Leaving' },
    ...{ created: Date.UTC(2026, 0, 31) / 1000, created_at: '2026-01-31T00:00:00.000Z' },
    ...{ context_window: 2000, max_input_tokens: 2000, max_output_tokens: 200, max_tokens: 200 },
    ...{ shutdown_date: '2027-01-02', retires_at: '2027-01-02T00:00:00.000Z', lifecycle: 'deprecated' },
  };

  it('are those of today, the cheapest of each kind first, in the fields of both vendors', async () => {
    const get = await open(create, [PLAIN, LEAVING, RETIRED, DRAWING]);
    const painter = { ...plain, id: 'painter', kind: 'image' };
    expect(await get('')).toEqual({
      status: 200,
      body: {
        ...{ object: 'list', has_more: false, first_id: 'leaving', last_id: 'painter' },
        data: [leaving, plain, painter],
      },
    });
    expect(await get('/leaving')).toEqual({ status: 200, body: leaving });
  });

  it('are an empty list without any', async () => {
    const get = await open(create, []);
    const body = { object: 'list', data: [], has_more: false, first_id: null, last_id: null };
    expect(await get('')).toEqual({ status: 200, body });
  });

  it('are unknown or retired by name', async () => {
    const get = await open(create, [PLAIN, RETIRED]);
    for (const [id, words] of [
      ['never', 'never'],
      ['gone', "was retired on 2026-01-02; use 'plain'"],
    ]) {
      const { status, body } = await get(`/${id}`);
      expect([status, body.error.message]).toEqual([404, expect.stringContaining(words as string)]);
    }
  });

  it.each(['', '/plain'])('are for callers with a key: %s', async (path) => {
    const get = await open(create, [PLAIN]);
    expect((await get(path, 'wrong')).status).toBe(401);
  });
});
