import type { ModelInfo, ModelProvider } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../support/test-app.ts';

const INFO: ModelInfo = {
  id: 'vectors',
  name: 'Vectors',
  type: 'embedding',
  provider: 'vectors',
  contextWindow: 1_000_000,
  maxOutputTokens: 0,
  prices: { input: 0.01 },
};

/** The vector of a text begins with its length. */
const provider = (info: Partial<ModelInfo>, length: number): ModelProvider => ({
  id: 'vectors',
  models: () => [{ ...INFO, ...info }],
  generate: () => Promise.reject(new Error('no')),
  embed: async ({ inputs, dimensions = length }) => ({
    embeddings: inputs.map((text) => [text.length, ...Array(dimensions - 1).fill(-0.5)]),
    tokens: inputs.length,
  }),
});

async function embed(
  body: object,
  { info = {}, length = 2 }: { info?: Partial<ModelInfo>; length?: number } = {},
) {
  const app = await createTestApp({ key: { scopes: ['ai:generate'] }, models: [provider(info, length)] });
  const answer = await app.ask('POST', '/api/v1/embeddings', { body: { model: 'vectors', ...body } });
  return { status: answer.status, text: await answer.text() };
}

describe('the answer of an embedding call', () => {
  it('has a vector for each text, in their order, and the usage', async () => {
    const { text } = await embed({ input: ['a', 'bcd'] });
    expect(JSON.parse(text)).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [1, -0.5] },
        { object: 'embedding', index: 1, embedding: [3, -0.5] },
      ],
      model: 'vectors',
      usage: { prompt_tokens: 2, total_tokens: 2 },
    });
  });

  it('has 32-bit floats in little-endian order as base64', async () => {
    const { text } = await embed({ input: 'abc', encoding_format: 'base64' });
    const { embedding } = JSON.parse(text).data[0];
    const bytes = Buffer.from(embedding, 'base64');
    expect(bytes).toHaveLength(8);
    expect([bytes.readFloatLE(0), bytes.readFloatLE(4)]).toEqual([3, -0.5]);
  });
});

describe('an embedding call', () => {
  it('has at most 300,000 tokens', async () => {
    const input = Array<string>(100).fill('x'.repeat(7500));
    expect((await embed({ input })).status).toBe(200);
    const refused = await embed({ input: [...input.slice(1), 'x'.repeat(7501)] });
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringMatching(/limit_exceeded.*at most 300000 tokens|at most 300000 tokens.*limit_exceeded/i),
    ]);
  });

  it.each([
    ['requests', { dimensions: 4096 }, {}, 4096, 48],
    ['requests, and not those of the model', { dimensions: 4096 }, { info: { dimensions: 8192 } }, 4096, 48],
    ['has by itself', {}, { info: { dimensions: 8192 } }, 8192, 24],
  ])(
    'has at most 196,608 numbers in the answer, with the dimensions that it %s',
    async (_, body, model, length, most) => {
      const ask = (count: number) => embed({ input: Array(count).fill('x'), ...body }, { ...model, length });
      expect((await ask(most)).status).toBe(200);
      const refused = await ask(most + 1);
      expect([refused.status, refused.text]).toEqual([
        422,
        expect.stringMatching(/limit_exceeded.*196608 numbers|196608 numbers.*limit_exceeded/i),
      ]);
    },
  );
});
