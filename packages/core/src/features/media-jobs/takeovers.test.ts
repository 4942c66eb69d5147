import { describe, expect, it } from 'vitest';
import { FREE, HELD, ID, meanwhile, openGeneration } from '../../../test/generations.ts';
import type { MediaJobStatus } from '../../ports/media.ts';
import { ProviderError } from '../../ports/models.ts';
import type { GenerationRecord } from './records.ts';

type Opened = Awaited<ReturnType<typeof openGeneration>>;
type Change = Partial<GenerationRecord>;

const SUBMITTED = {
  state: 'running',
  step: 'submitted',
  submittedBy: 'j:1',
  providerJobId: 'job-1',
} as const;
const OTHER = { submittedBy: 'k:2' } as const;

describe('a submission', () => {
  it('is not made after that of another worker', async () => {
    const { run, get, names, generations } = await openGeneration();
    const taken = { state: 'running', step: 'submitting', ...OTHER } as const;
    expect(await run(undefined, async () => void (await generations.update(ID, taken)))).toBeUndefined();
    expect([names(), await get()]).toMatchObject([[], taken]);
  });

  const submit = async (change: Change, error?: ProviderError) => {
    const opened: Opened = await openGeneration({
      jobs: {
        async submit() {
          await opened.clock.advance(3);
          await opened.generations.update(ID, change);
          if (error !== undefined) throw error;
          return 'job-1';
        },
      },
    });
    return { ...opened, end: await opened.run() };
  };

  it.each<Change>([OTHER, { step: 'made' }])('of another worker keeps its outcome: %j', async (change) => {
    const { end, get } = await submit(change);
    expect([end, (await get()).providerJobId]).toEqual([undefined, undefined]);
    expect(await get()).toMatchObject(change);
  });

  it.each(['failed', 'overloaded'] as const)('of another worker does not end as %s', async (kind) => {
    const { end, get, money } = await submit(OTHER, new ProviderError(kind, 'x'));
    expect([end, await get(), await money()]).toMatchObject([
      ...[undefined, { state: 'running', step: 'submitting', ...OTHER }, HELD],
    ]);
  });

  it('that another worker ended is not repeated', async () => {
    const { end, get, money } = await submit({ state: 'failed' }, new ProviderError('overloaded', 'x'));
    expect([end, await get(), await money()]).toMatchObject([
      ...[undefined, { state: 'failed', step: 'submitting' }, FREE],
    ]);
  });

  it('that fails after a cancellation releases the credit', async () => {
    const { get, money } = await submit({ state: 'cancelled' }, new ProviderError('failed', 'x'));
    expect([(await get()).state, await money()]).toEqual(['cancelled', FREE]);
  });

  it.each<Change>([{ step: 'submitted' }, OTHER])('that lives is not interrupted: %j', async (change) => {
    const opened: Opened = await openGeneration({
      record: { state: 'running', step: 'submitting', submittedBy: 'i:1' },
      change: ({ store }) => ({
        store: meanwhile(store, 'get', () => opened.generations.update(ID, change)),
      }),
    });
    await opened.run();
    expect([await opened.get(), await opened.money()]).toMatchObject([{ state: 'running', ...change }, HELD]);
  });
});

describe('a poll', () => {
  const poll = async (change: Change, status: MediaJobStatus, passed = 0) => {
    const opened: Opened = await openGeneration({
      record: SUBMITTED,
      jobs: {
        async poll() {
          await opened.generations.update(ID, change);
          return status;
        },
      },
    });
    await opened.clock.advance(passed);
    await opened.run();
    return opened;
  };

  it.each<MediaJobStatus>([
    { state: 'running', progress: 0.5 },
    { state: 'done', output: 'x' },
    { state: 'failed', message: 'x' },
  ])('does not change what another worker has: %j', async (status) => {
    const change = { step: 'submitting', ...OTHER } as const;
    const { get, money, names } = await poll(change, status);
    const { state, step, progress, result } = await get();
    expect([state, step, progress, result]).toEqual(['running', 'submitting', undefined, undefined]);
    expect([names(), await money()]).toEqual([[], HELD]);
  });

  it.each<Change>([{ state: 'storing' }, { step: 'made' }])(
    'after the maximum time does not end what another worker stores: %j',
    async (change) => {
      const { get, names } = await poll(change, { state: 'waiting' }, 3_600_000);
      expect([await get(), names()]).toMatchObject([{ state: 'running', step: 'submitted', ...change }, []]);
    },
  );
});

describe('a result', () => {
  const MADE = { ...SUBMITTED, state: 'storing', step: 'made', result: 'x' } as const;

  it('is not charged to a generation that failed meanwhile', async () => {
    const opened: Opened = await openGeneration({
      record: MADE,
      jobs: {
        async fetch() {
          await opened.generations.update(ID, { state: 'failed' });
          const body = (async function* () {
            yield Buffer.from('hello');
          })();
          return { mediaType: 'video/mp4', body };
        },
      },
    });
    await opened.run();
    const { state, file } = await opened.get();
    expect([state, file, await opened.money()]).toEqual(['failed', undefined, FREE]);
  });

  it.each<Change>([{ state: 'succeeded' }, { step: 'made' }])(
    'ends once, also if another worker is faster: %j',
    async (change) => {
      const due = { amount: 3_000_000, usage: { seconds: 3 } };
      const opened: Opened = await openGeneration({
        record: { ...MADE, step: 'kept', due },
        change: ({ ledger }) => ({
          ledger: {
            ...ledger,
            async settle(...given) {
              await opened.generations.update(ID, change);
              return ledger.settle(...given);
            },
          },
        }),
      });
      await opened.run();
      expect([await opened.get(), opened.published]).toMatchObject([change, []]);
    },
  );

  it('of one long call is not stored for another worker', async () => {
    const input = { prompt: 'a waltz', durationSeconds: 8, instrumental: true, format: 'mp3' } as const;
    for (const change of [OTHER, { step: 'submitted' }] as const) {
      const opened: Opened = await openGeneration({
        provider: {
          musicJobs: undefined,
          music: async () => {
            await opened.generations.update(ID, change);
            return { mediaType: 'audio/mpeg', data: Buffer.from('ID3') };
          },
        } as never,
        record: { kind: 'music', model: 'composer', providerModel: 'composer', input },
      });
      await opened.run();
      expect([await opened.get(), await opened.money()]).toMatchObject([
        { state: 'running', ...change },
        HELD,
      ]);
    }
  });
});
