import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createCircuitBreaker } from '../../models/breaker.ts';
import { ProviderError } from '../../ports/models.ts';
import { callProvider } from './ask-provider.ts';

const CIRCUIT = { providerId: 'videos', model: 'director', credential: undefined, callerId: 'ada' };

it('reports the end of a call by its signal, whatever the provider reports', async () => {
  const breaker = createCircuitBreaker(createFakeClock());
  const control = new AbortController();
  const ended = callProvider({ breaker }, CIRCUIT, control.signal, async () => {
    control.abort(new Error('stopped'));
    throw new ProviderError('failed', 'connection closed');
  });
  await expect(ended).rejects.toThrow('stopped');
});
