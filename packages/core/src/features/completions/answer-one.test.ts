import { describe, expect, it } from 'vitest';
import { openCircuit, openCompletion, withLongAnswer } from '../../../test/completion-run.ts';
import { askOne, checkCredit } from './answer.ts';

const hello = { type: 'text', text: 'Hello' } as const;
const gone = new Error('gone');

describe('answer of one model', () => {
  it('holds credit first, and calls its provider with the first step', async () => {
    const { services, call, asked, vendor, log, holds } = await openCompletion();
    const answer = await askOne(services, call, asked);
    expect(holds).toMatchObject([{ details: { operation: 'ask', model: 'm', requestId: 'r-1' } }]);
    expect(answer.entry).toBe(vendor.entry);
    expect(answer.money?.isMetered).toBe(true);
    expect(log).toEqual(['hold call 150000']);
    vendor.answer.say(hello);
    vendor.answer.end();
    expect(await answer.source.next()).toEqual({ done: false, value: hello });
    expect(log).toEqual(['hold call 150000', 'ask m']);
    expect(vendor.requests[0]).toBe(asked.request);
    expect(await answer.source.next()).toEqual({ done: true, value: undefined });
    expect(vendor.answer.reads).toBe(2);
  });

  it('has a lower output limit where the credit covers no more and the request has none', async () => {
    const { services, call, asked, vendor, log } = await openCompletion({
      ...{ credit: 60_000_000, asked: withLongAnswer(false) },
    });
    const { source } = await askOne(services, call, asked);
    vendor.answer.end();
    await source.next();
    expect(log).toEqual(['hold call 100100000', 'hold call 50100000', 'ask m']);
    expect(vendor.requests).toEqual([{ ...asked.request, maxTokens: 5000 }]);
  });

  it('keeps the output limit of the request', async () => {
    const { services, call, asked, log } = await openCompletion({
      ...{ credit: 60_000_000, asked: withLongAnswer(true) },
    });
    await expect(askOne(services, call, asked)).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(log).toEqual(['hold call 100100000']);
  });

  it('is cancelled once, by its source or by its money', async () => {
    const { services, call, asked, vendor, log } = await openCompletion();
    const { source, money } = await askOne(services, call, asked);
    vendor.answer.say(hello);
    await source.next();
    expect(await source.return()).toEqual({ done: true, value: undefined });
    expect(log.slice(2)).toEqual(['cancel m']);
    money?.control.stop(gone);
    money?.control.stop(new Error('again'));
    expect(log.slice(2)).toEqual(['cancel m', 'stop m: gone']);
  });
});

describe('circuit of a model', () => {
  it('is open: nothing is held', async () => {
    const { services, call, asked, vendor, clock, log } = await openCompletion();
    await openCircuit(services, vendor.entry);
    await clock.advance(29_999);
    await expect(askOne(services, call, asked)).rejects.toMatchObject({
      ...{ kind: 'overloaded', code: 'circuit_open', retryAfterMs: 1 },
    });
    expect(log).toEqual([]);
  });

  it('is open for one caller', async () => {
    const { services, call, asked, vendor, log } = await openCompletion();
    await openCircuit(services, vendor.entry);
    await askOne(services, { ...call, caller: { ...call.caller, userId: 'b' } }, asked).catch(
      () => undefined,
    );
    expect(log).toEqual(['hold call 150000']);
  });

  it('counts a failure of the first step', async () => {
    const { services, call, asked, vendor } = await openCompletion();
    for (let failures = 0; failures < 5; failures += 1) {
      vendor.refuse(gone);
      const { source, money } = await askOne(services, { ...call, id: `call ${failures}` }, asked);
      await expect(source.next()).rejects.toBe(gone);
      await money?.release();
    }
    await expect(askOne(services, call, asked)).rejects.toMatchObject({ code: 'circuit_open' });
  });

  it('counts no later failure', async () => {
    const { services, call, asked, vendor } = await openCompletion();
    const answers = [];
    for (let number = 0; number < 5; number += 1) {
      vendor.answer.say(hello);
      const answer = await askOne(services, { ...call, id: `call ${number}` }, asked);
      await answer.source.next();
      await answer.money?.release();
      answers.push(answer);
    }
    for (const { source } of answers) {
      vendor.answer.fail(gone);
      await expect(source.next()).rejects.toBe(gone);
    }
    expect((await askOne(services, call, asked)).entry).toBe(vendor.entry);
  });

  it('counts no failure after the client has left', async () => {
    const { services, call, asked, vendor, leaving } = await openCompletion();
    leaving.abort();
    for (let failures = 0; failures < 5; failures += 1) {
      vendor.refuse(gone);
      const { source, money } = await askOne(services, { ...call, id: `call ${failures}` }, asked);
      await expect(source.next()).rejects.toBe(gone);
      await money?.release();
    }
    expect((await askOne(services, call, asked)).entry).toBe(vendor.entry);
  });
});

describe('check of the credit', () => {
  it('holds the cost of a call, and releases it', async () => {
    const { services, call, asked, log, holds, balance } = await openCompletion();
    await checkCredit(services, call, asked);
    expect(holds).toMatchObject([{ details: { operation: 'ask' } }]);
    expect(log).toEqual(['hold call:check 150000', 'release']);
    expect(await balance()).toMatchObject({ available: 1_000_000, held: 0 });
  });

  it('refuses a call that the account does not cover', async () => {
    const { services, call, asked, log } = await openCompletion({ credit: 149_999 });
    await expect(checkCredit(services, call, asked)).rejects.toMatchObject({ status: 422 });
    expect(log).toEqual(['hold call:check 150000']);
  });

  it.each([
    [false, ['hold call:check 100100000', 'hold call:check 50100000', 'release']],
    [true, ['hold call:check 100100000']],
  ])('keeps an output limit that the request has: %s', async (isCapNamed, expected) => {
    const { services, call, asked, log } = await openCompletion({
      ...{ credit: 60_000_000, asked: withLongAnswer(isCapNamed) },
    });
    await checkCredit(services, call, asked).catch(() => undefined);
    expect(log).toEqual(expected);
  });
});
