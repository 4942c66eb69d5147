import { describe, expect, it } from 'vitest';
import { HELD, openGeneration, POLL } from '../../../test/generations.ts';
import { type CircuitBreaker, getCircuit } from '../../models/breaker.ts';
import { ProviderError } from '../../ports/models.ts';

/** Opens the circuit of a model for all callers. */
async function failOften(breaker: CircuitBreaker, model: string): Promise<void> {
  for (const caller of ['bob', 'eve', 'bob', 'eve', 'bob']) {
    const circuit = getCircuit({ provider: { id: 'videos' }, providerModel: model } as never, caller);
    const failure = () => Promise.reject(new ProviderError('failed', 'away'));
    await expect(breaker.call(circuit, undefined, failure)).rejects.toThrow('away');
  }
}

describe('a provider that failed for others', () => {
  it.each([
    ['submitted', { state: 'running', step: 'submitted', providerJobId: 'job-1' }, POLL],
    ['made', { state: 'storing', step: 'made', result: 'x', providerJobId: 'job-1' }, POLL],
    ['new', {}, { afterMs: 30_000, countAttempt: false }],
  ] as const)('is not called for work that is %s', async (_, record, later) => {
    const { run, own, names, money } = await openGeneration({ record: { ...record, providerModel: 'v-1' } });
    await failOften(own.breaker, 'v-1');
    expect(await run()).toEqual(later);
    expect([names().filter((name) => name !== 'extend'), await money()]).toEqual([[], HELD]);
  });

  it('is not called for music of one long call', async () => {
    const given: unknown[] = [];
    const { run, own, get } = await openGeneration({
      provider: {
        musicJobs: undefined,
        music: async (request: unknown) => {
          given.push(request);
          throw new ProviderError('failed', 'called');
        },
      } as never,
      record: {
        ...{ kind: 'music', model: 'composer', providerModel: 'm-1' },
        input: { prompt: 'a waltz', durationSeconds: 8, instrumental: true, format: 'mp3' },
      },
    });
    await failOften(own.breaker, 'm-1');
    expect(await run()).toEqual({ afterMs: 30_000, countAttempt: false });
    expect([given, (await get()).step]).toEqual([[], undefined]);
  });

  it('is called for other models', async () => {
    const { run, own, names } = await openGeneration();
    await failOften(own.breaker, 'other');
    expect(await run()).toEqual(POLL);
    expect(names()).toEqual(['extend', 'submit']);
  });
});
