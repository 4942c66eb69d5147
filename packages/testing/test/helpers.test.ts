import { createMemoryLedger, createMemoryLimiter, createMemoryStore } from '@questline/core/memory';
import {
  checkConservation,
  createFakeClock,
  createFakeIds,
  createScriptedProvider,
  type FaultyCall,
  fakeTime,
  faultsAt,
  InjectedFault,
  ledgerSuite,
  limiterCases,
  randomFaults,
  runCases,
  say,
  storeSuiteCollections,
  withFaults,
} from '@questline/testing';
import { describe, expect, it } from 'vitest';

const account = 'user:a';
const request = { model: 'scripted-1', messages: [], maxTokens: 10 };

function ledgerWithCredit() {
  const clock = createFakeClock();
  const ledger = createMemoryLedger({ clock });
  return { clock, ledger, credit: { account, amount: 100, key: 'credit', reason: 'test' } };
}

describe('fake clock', () => {
  it('fires timers in order at their instant, including those set meanwhile', async () => {
    const clock = createFakeClock(0);
    const rung: [string, number][] = [];
    const ring = (name: string) => () => rung.push([name, clock.now()]);
    clock.timer(300, ring('c'));
    clock.timer(100, () => {
      ring('a')();
      clock.timer(100, ring('b'));
    });
    const cancel = clock.timer(150, ring('never'));
    cancel();
    clock.timer(5000, ring('later'));
    await clock.advance(1000);
    expect(rung).toEqual([
      ['a', 100],
      ['b', 200],
      ['c', 300],
    ]);
    expect(clock.now()).toBe(1000);
    expect(clock.pending).toBe(1);
  });

  it('runs the effects of a timer before the next one fires', async () => {
    const clock = createFakeClock(0);
    const order: string[] = [];
    clock.timer(1, () => void Promise.resolve().then(() => order.push('first')));
    clock.timer(2, () => order.push('second'));
    await clock.advance(2);
    expect(order).toEqual(['first', 'second']);
  });
});

describe('fake ids', () => {
  it('are equal for one seed, ascending, and different for another seed', () => {
    const draw = (seed: number) => {
      const ids = createFakeIds(seed);
      return [
        ids.next(),
        ids.next(),
        ids.requestId(),
        ids.secret(20),
        Buffer.from(ids.bytes(4)).toString('hex'),
      ];
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1).filter((id) => draw(2).includes(id))).toEqual([]);
    const [first = '', second = '', uuid = ''] = draw(1);
    expect(first < second).toBe(true);
    expect(first).toMatch(/^[0-9a-f]{24}$/);
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe('injected faults', () => {
  it('occur before the call, which then has no effect, or after it', async () => {
    const { ledger: sound, credit } = ledgerWithCredit();
    const ledger = withFaults(
      sound,
      faultsAt([
        { method: 'grant', call: 1, fault: 'before' },
        { method: 'grant', call: 2, fault: 'after' },
      ]),
    );
    await expect(ledger.grant(credit)).rejects.toMatchObject({ name: 'InjectedFault', isApplied: false });
    expect((await ledger.balance(account)).posted).toBe(0);
    await expect(ledger.grant(credit)).rejects.toMatchObject({ name: 'InjectedFault', isApplied: true });
    expect((await ledger.balance(account)).posted).toBe(100);
    expect(await ledger.grant(credit)).toBe(false);
  });

  it('let a call take effect after later ones', async () => {
    const limiter = withFaults(createMemoryLimiter(), faultsAt([{ call: 1, fault: 'delay' }]));
    const windows = [{ name: 'minute', limit: 1, lengthMs: 1000 }];
    const [late, next] = await Promise.all([limiter.take('a', windows, 0), limiter.take('a', windows, 0)]);
    expect([late.allowed, next.allowed]).toEqual([false, true]);
  });

  it('affect the collections of a store and a transaction as a whole', async () => {
    const [, wallets] = storeSuiteCollections;
    const calls: FaultyCall[] = [];
    const plan = faultsAt([
      { method: 'suite_wallets.insert', call: 2, fault: 'after' },
      { method: 'transaction', call: 1, fault: 'after' },
    ]);
    const store = withFaults(createMemoryStore(), (call) => {
      calls.push(call);
      return plan(call);
    });
    const collection = store.collection(wallets);
    expect(await collection.insert({ id: 'a', ownerId: 'alice' })).toBe(true);
    await expect(collection.insert({ id: 'b', ownerId: 'alice' })).rejects.toThrow(InjectedFault);
    expect(await collection.count({})).toBe(2);
    const work = store.transaction(async (inside) => inside.collection(wallets).take('a'));
    await expect(work).rejects.toThrow(InjectedFault);
    expect(await collection.count({})).toBe(1);
    expect(calls.map(({ method }) => method)).toEqual([
      'suite_wallets.insert',
      'suite_wallets.insert',
      'suite_wallets.count',
      'transaction',
      'suite_wallets.count',
    ]);
  });

  it('are equal for equal seeds and about as frequent as requested', () => {
    const draw = (seed: number) => {
      const plan = randomFaults(seed, { before: 0.1, after: 0.2, delay: 0.3 });
      return Array.from({ length: 2000 }, (_, number) =>
        plan({ method: 'hold', number, numberOfMethod: number }),
      );
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
    const share = (fault: string) => draw(1).filter((drawn) => drawn === fault).length / 2000;
    expect(share('before')).toBeCloseTo(0.1, 1);
    expect(share('after')).toBeCloseTo(0.2, 1);
    expect(share('delay')).toBeCloseTo(0.3, 1);
    const only = randomFaults(1, { before: 1, methods: ['hold'] });
    expect(only({ method: 'settle', number: 1, numberOfMethod: 1 })).toBeUndefined();
    expect(only({ method: 'hold', number: 2, numberOfMethod: 1 })).toBe('before');
  });
});

describe('conservation check', () => {
  it('reports what is missing from the balance, entries, charges or grants', async () => {
    const { ledger, credit } = ledgerWithCredit();
    await ledger.grant(credit);
    const drift = async (seen: Partial<typeof ledger>, amount = 100) =>
      (await checkConservation({ ...ledger, ...seen }, [account], [{ account, amount }])).drift;
    expect(await drift({})).toBe(0);
    expect(await drift({}, 99)).toBe(1);
    expect(await drift({ balance: async () => ({ posted: 97, held: 0, available: 97 }) })).toBe(3);
    expect(await drift({ balance: async () => ({ posted: 100, held: 5, available: 100 }) })).toBe(5);
    expect(await drift({ spent: async () => 4 })).toBe(4);
    expect(await drift({ entries: async () => [] })).toBe(200);
  });
});

describe('scripted provider', () => {
  it('returns the given output when the test requests it', async () => {
    const provider = createScriptedProvider();
    const generating = provider.generate(request, {});
    const call = await provider.nextCall();
    expect(call.request).toBe(request);
    call.send({ type: 'text', text: 'a' });
    const reading = (await generating)[Symbol.asyncIterator]();
    expect((await reading.next()).value).toEqual({ type: 'text', text: 'a' });
    const next = reading.next();
    call.send({ type: 'text', text: 'b' }, { type: 'text', text: 'c' });
    expect((await next).value).toEqual([
      { type: 'text', text: 'b' },
      { type: 'text', text: 'c' },
    ]);
    expect(call.end).toBeUndefined();
    call.finish('max_tokens', { output: 3 });
    call.send({ type: 'text', text: 'too late' });
    expect((await reading.next()).value).toEqual({ type: 'usage', usage: { output: 3 } });
    expect((await reading.next()).value).toEqual({ type: 'finish', reason: 'max_tokens' });
    expect((await reading.next()).done).toBe(true);
    expect(call.end).toMatchObject({ how: 'finished', read: 2 });
  });

  it('records how each call ended', async () => {
    const provider = createScriptedProvider();
    const controller = new AbortController();
    const aborted = provider.generate(request, { signal: controller.signal });
    const returned = provider.generate(request, {});
    const refused = provider.generate(request, {});
    const calls = [await provider.nextCall(), await provider.nextCall(), await provider.nextCall()] as const;
    const before = performance.now();
    controller.abort(new Error('left'));
    await expect(aborted).rejects.toThrow('left');
    calls[1].accept();
    await (await returned)[Symbol.asyncIterator]().return?.();
    calls[2].refuse(new Error('no'));
    await expect(refused).rejects.toThrow('no');
    expect(provider.calls.map(({ end }) => end?.how)).toEqual(['aborted', 'returned', 'refused']);
    const { at } = await calls[0].ended;
    expect(at).toBeGreaterThanOrEqual(before);
  });

  it('can give every call the same answer', async () => {
    const provider = createScriptedProvider({ answer: say({ type: 'text', text: 'hello' }) });
    for (let at = 0; at < 2; at += 1) {
      const parts = [];
      for await (const part of await provider.generate(request, {})) parts.push(part);
      expect(parts).toEqual([
        { type: 'text', text: 'hello' },
        { type: 'finish', reason: 'stop' },
      ]);
    }
    expect(provider.calls).toHaveLength(2);
  });
});

describe('conformance suite', () => {
  const create = async () => {
    const clock = createFakeClock();
    return { ledger: createMemoryLedger({ clock }), time: fakeTime(clock) };
  };

  it('rejects a skip without a reason or a case', () => {
    const skip = (given: Record<string, string>) => () => ledgerSuite({ name: 'any', create, skip: given });
    expect(skip({ 'returns zero for an unknown account': ' ' })).toThrow('reason');
    expect(skip({ 'no such case': 'because' })).toThrow('no case');
  });

  it('skips what an implementation does not support and gives the reason', async () => {
    const outcomes = await runCases(limiterCases, async () => ({
      limiter: createMemoryLimiter(),
      time: { ...fakeTime(createFakeClock()), isExact: false },
    }));
    const skipped = outcomes.filter(({ outcome }) => outcome === 'skipped').map(({ name }) => name);
    expect(skipped).toEqual(limiterCases.filter((one) => one.needsExactTime).map(({ name }) => name));
    expect(outcomes.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });

  it('fails a case that hangs', async () => {
    const outcomes = await runCases(
      [{ name: 'hangs', section: 'behaviour', run: () => new Promise<void>(() => undefined) }],
      create,
      { timeoutMs: 20 },
    );
    expect(outcomes).toMatchObject([{ name: 'hangs', outcome: 'failed' }]);
  });
});
