import { createOpenAIUpstream } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure } from './collect.ts';
import { later, openAI, openAIAt } from './set-up.ts';

describe('connections', () => {
  it('are as many as allowed', async () => {
    const { provider, upstream } = await openAI({}, { connections: 2 });
    await Promise.all(Array.from({ length: 10 }, () => answer(provider)));
    expect(upstream.connections).toBeLessThanOrEqual(2);
    expect(upstream.requests).toHaveLength(10);
  });

  it('end when the provider is closed, and calls fail from then on', async () => {
    const { provider, upstream } = await openAI();
    await answer(provider);
    expect(upstream.openConnections).toBe(1);
    await provider.close?.();
    while (upstream.openConnections > 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await failure(answer(provider))).kind).toBe('failed');
  });

  it('lead to the address with its path and its query', async () => {
    const upstream = await createOpenAIUpstream();
    later(() => upstream.close());
    await answer(openAIAt(`${upstream.origin}/openai/v1/?api-version=7`, { headers: { 'x-team': 'blue' } }));
    expect(upstream.requests[0]?.path).toBe('/openai/v1/chat/completions?api-version=7');
    expect(upstream.requests[0]?.headers['x-team']).toBe('blue');
  });
});
