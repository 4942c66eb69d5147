import { createOpenAIUpstream } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure } from './collect.ts';
import { later, openAI, openAIAt } from './set-up.ts';

describe('connections of a provider', () => {
  it('stay within the configured limit', async () => {
    const { provider, upstream } = await openAI({}, { connections: 2 });
    await Promise.all(Array.from({ length: 10 }, () => answer(provider)));
    expect(upstream.connections).toBeLessThanOrEqual(2);
    expect(upstream.requests).toHaveLength(10);
  });

  it('end when the provider is closed, and later calls fail', async () => {
    const { provider, upstream } = await openAI();
    await answer(provider);
    expect(upstream.openConnections).toBe(1);
    await provider.close?.();
    while (upstream.openConnections > 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await failure(answer(provider))).kind).toBe('failed');
  });

  it('use the address with its path and query', async () => {
    const upstream = await createOpenAIUpstream();
    later(() => upstream.close());
    await answer(openAIAt(`${upstream.origin}/openai/v1/?api-version=7`, { headers: { 'x-team': 'blue' } }));
    expect(upstream.requests[0]?.path).toBe('/openai/v1/chat/completions?api-version=7');
    expect(upstream.requests[0]?.headers['x-team']).toBe('blue');
  });
});
