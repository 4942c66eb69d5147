import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { FREE, type GenerationOptions, HELD, ID, openGeneration } from '../../../test/generations.ts';
import { ProviderError } from '../../ports/models.ts';
import { ApiError } from '../../shared/errors.ts';
import { BLOCKED, createTermination, FAILED, toFailure } from './termination.ts';
import { VIDEO } from './video.ts';

async function open(options: GenerationOptions = {}) {
  const opened = await openGeneration(options);
  await opened.clock.advance(7);
  return { ...opened, termination: createTermination(opened.services, VIDEO) };
}

describe('the end of a generation', () => {
  it.each(['pending', 'running', 'storing'] as const)(
    'is stored if it is %s, and releases the credit',
    async (state) => {
      const { clock, termination, record, get, money, published } = await open({ record: { state } });
      expect(await termination.fail(record, FAILED)).toBeUndefined();
      const { state: ended, error, nextCheckAt, updatedAt } = await get();
      const { code, message } = FAILED;
      expect([ended, error, nextCheckAt, updatedAt]).toEqual([
        'failed',
        { code, message },
        undefined,
        clock.now(),
      ]);
      expect([await money(), published]).toEqual([FREE, [['ended', ID]]]);
    },
  );

  it.each(['reserving', 'succeeded', 'blocked', 'cancelled'] as const)(
    'is left as it is if it is %s',
    async (state) => {
      const { termination, record, get, money, published } = await open({ record: { state } });
      await termination.fail(record, FAILED);
      expect([(await get()).state, await money(), published]).toEqual([state, HELD, []]);
    },
  );

  it('is not a failure once its result is stored', async () => {
    const { termination, record, get } = await open({ record: { state: 'storing', step: 'kept' } });
    await termination.fail(record, FAILED);
    expect((await get()).state).toBe('storing');
  });

  it('has the conditions of its worker', async () => {
    const { termination, record, get } = await open({ record: { state: 'running', submittedBy: 'a' } });
    await termination.fail(record, FAILED, { submittedBy: 'b' });
    expect((await get()).state).toBe('running');
    await termination.fail(record, BLOCKED, { submittedBy: 'a' });
    expect((await get()).state).toBe('blocked');
  });

  it('needs nothing of a generation that is gone or goes on', async () => {
    const { termination, generations, money } = await open();
    expect(await termination.resolveConflict(ID)).toBeUndefined();
    expect(await money()).toEqual(HELD);
    await generations.take(ID);
    expect(await termination.resolveConflict(ID)).toBeUndefined();
  });
});

describe('the provider of a generation', () => {
  it('has a circuit for each model, key and caller', async () => {
    const { termination, record } = await open({ record: { providerModel: 'director-2' } });
    const circuit = { providerId: 'videos', model: 'director-2', callerId: 'ada' };
    expect(await termination.getCircuit(record)).toEqual({ ...circuit, credential: undefined });
    expect(await termination.getCircuit({ ...record, ownKey: true })).toEqual({
      ...circuit,
      credential: 'ada',
    });
  });

  it('is that of the key which submitted the work', async () => {
    const { termination, record } = await open();
    expect(await termination.getSubmission(record)).toBeDefined();
    expect(await termination.getSubmission({ ...record, ownKey: true })).toBeUndefined();
  });

  it('is that of the key of its owner, if it was submitted with that', async () => {
    const making = { poll: 'own' };
    const own = { id: 'videos', video: making };
    const entries = [
      { ownKey: true, provider: { id: 'other', video: {} }, credential: 'other' },
      { ownKey: undefined, provider: { id: 'videos', video: {} }, credential: undefined },
      { ownKey: true, provider: own, credential: 'hash' },
    ];
    const { termination, record } = await open({
      change: () => ({ getCatalogue: async () => ({ list: () => entries }) as never }),
    });
    const owned = { ...record, ownKey: true } as const;
    expect((await termination.getSubmission(owned))?.jobs).toBe(making);
    expect((await termination.getCircuit(owned)).credential).toBe('hash');
    expect((await termination.getCircuit(record)).credential).toBeUndefined();
  });

  it('has cancelled what it accepted too late before the job ends', async () => {
    let isCancelled = false;
    const { termination } = await open({
      record: { state: 'failed' },
      jobs: {
        async cancel() {
          await settle();
          isCancelled = true;
        },
      },
    });
    await termination.resolveConflict(ID, { providerJobId: 'job-1' });
    expect(isCancelled).toBe(true);
  });

  it('may end its cancellation with a signal', async () => {
    const given: unknown[] = [];
    const { termination, record } = await open({
      jobs: {
        async cancel(id, { signal }) {
          given.push(id, signal?.aborted);
        },
      },
    });
    expect(await termination.cancelAtProvider({ ...record, providerJobId: 'job-1' })).toBe(true);
    expect(await termination.cancelAtProvider(record)).toBe(true);
    expect(given).toEqual(['job-1', false]);
  });
});

describe('a failure', () => {
  it('has a message of our own', () => {
    expect(toFailure(new ProviderError('content_blocked', 'secret'))).toBe(BLOCKED);
    const failed = toFailure(new ProviderError('failed', 'secret'));
    expect(failed).toMatchObject({ state: 'failed', code: 'provider_error' });
    expect(failed.message).not.toContain('secret');
  });

  it('has the code of a refusal, or another', () => {
    const refused = new ApiError(422, 'no', { code: 'unsupported_mode' });
    expect(toFailure(refused)).toEqual({ state: 'failed', code: 'unsupported_mode', message: 'no' });
    const plain = new ApiError(422, 'no');
    expect(toFailure(plain)).toEqual({ state: 'failed', code: 'provider_error', message: 'no' });
    expect(toFailure(plain, 'unsupported_input').code).toBe('unsupported_input');
  });
});
