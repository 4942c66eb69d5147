import { createOpenAICompatibleProvider } from '@questline/providers/compatible';
import { createCompatibleUpstream, type ScriptSource } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, hello } from './collect.ts';
import { later } from './set-up.ts';

async function connect(script: ScriptSource = {}) {
  const upstream = await createCompatibleUpstream({ script });
  later(() => upstream.close());
  const provider = createOpenAICompatibleProvider({
    id: 'local',
    baseUrl: upstream.baseUrl,
    models: ['m'],
  });
  later(async () => provider.close?.());
  return { provider, upstream };
}

describe('compatible server without options', () => {
  it('gets no cache key, and a PDF as a file', async () => {
    const { provider, upstream } = await connect();
    const pdf = { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' } as const;
    const messages = [{ role: 'user', content: [pdf] }] as const;
    await answer(provider, { ...hello, messages, promptCache: { mode: 'auto', key: 'k' } });
    expect(upstream.requests[0]?.body).toEqual({
      model: 'test-model',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' } },
          ],
        },
      ],
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('makes embeddings', async () => {
    const { provider } = await connect({ refusal: { status: 200, body: { data: [{ embedding: [1, 2] }] } } });
    expect(await provider.embed?.({ model: 'e', inputs: ['a'] }, {})).toMatchObject({ embeddings: [[1, 2]] });
  });

  it('gets no call after the provider is closed', async () => {
    const { provider, upstream } = await connect();
    await provider.close?.();
    await expect(answer(provider)).rejects.toThrow('The client is destroyed');
    expect(upstream.requests).toEqual([]);
  });
});
