import { expect, it } from 'vitest';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { ProviderError, type ProviderErrorKind } from '../../ports/models.ts';
import { tryInOrder } from './candidates.ts';

const entries = ['a', 'b', 'c'].map(
  (id) => ({ info: { id }, provider: { id }, providerModel: id }) as unknown as CatalogueEntry,
);

/** Asks candidates that answer, or fail with an error. */
async function ask(
  answers: readonly unknown[],
  { candidates = entries, signal = new AbortController().signal } = {},
) {
  const failures: unknown[] = [];
  const asked: unknown[] = [];
  const breaker = {
    async call(circuit: { callerId: string }, _signal: AbortSignal, work: () => Promise<unknown>) {
      expect(circuit.callerId).toBe('ada');
      return work();
    },
  };
  const services = { breaker: breaker as never, onFailure: (error: unknown) => failures.push(error) };
  const made = tryInOrder(services, candidates, 'ada', signal, async (entry, place) => {
    asked.push(`${entry.info.id}${place}`);
    const answer = answers[place];
    if (answer instanceof Error) throw answer;
    return answer;
  });
  const result = await made.catch((error: unknown) => error);
  return { result, failures, asked };
}

const trouble = (kind: ProviderErrorKind) => new ProviderError(kind, kind);

it('answers with the first candidate that succeeds', async () => {
  const first = await ask(['x']);
  expect(first).toEqual({ result: { result: 'x', entry: entries[0] }, failures: [], asked: ['a0'] });
  const error = trouble('failed');
  const second = await ask([error, 'y']);
  const result = { result: 'y', entry: entries[1], fallbackFrom: 'a' };
  expect(second).toEqual({ result, failures: [error], asked: ['a0', 'b1'] });
});

it.each(['overloaded', 'failed', 'malformed_answer', 'timeout', 'rejected_key', 'not_configured'] as const)(
  'goes on after %s',
  async (kind) => {
    expect((await ask([trouble(kind), 'y'])).asked).toEqual(['a0', 'b1']);
  },
);

it.each(['invalid_request', 'content_blocked', 'context_length'] as const)('ends after %s', async (kind) => {
  const error = trouble(kind);
  expect(await ask([error, 'y'])).toEqual({ result: error, failures: [], asked: ['a0'] });
});

it('ends after other errors', async () => {
  const error = new TypeError('x');
  expect(await ask([error, 'y'])).toMatchObject({ result: error, asked: ['a0'] });
});

it('fails with the first error', async () => {
  const errors = [trouble('failed'), trouble('timeout'), trouble('overloaded')];
  const { result, failures } = await ask(errors);
  expect(result).toBe(errors[0]);
  expect(failures).toEqual(errors);
  expect((await ask([], { candidates: [] })).result).toEqual(new Error('no candidate model'));
});

it('ends with its signal', async () => {
  const signal = AbortSignal.abort(new Error('stopped'));
  const { result, failures } = await ask([trouble('failed'), 'y'], { signal });
  expect([result, failures]).toEqual([new Error('stopped'), []]);
  const late = AbortSignal.abort(trouble('timeout'));
  expect((await ask([trouble('failed'), 'y'], { signal: late })).asked).toEqual(['a0']);
});
