import { describe, expect, it } from 'vitest';
import { openAccount, PAID_REQUEST, PRICED, TOKENS } from '../../test/paid-calls.ts';
import type { GenerateRequest } from '../ports/models.ts';
import { openPaidTextCall } from './paid-text-call.ts';

/** Ten estimated tokens of input and five of output, of 10,000 micro-credits each. */
const REQUEST: GenerateRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(25) }] }],
  maxTokens: 5,
  promptCache: {} as never,
};
const INPUT = { input: 10, output: 0 };

async function open(more: object = {}) {
  const account = await openAccount({ credit: 1_000_000, rules: [TOKENS] });
  const call = await openPaidTextCall(account.services, { ...PAID_REQUEST, ...more }, REQUEST);
  call.meter.ask();
  return { ...account, call };
}

describe('paid text call', () => {
  it('holds its estimated input and its maximum output, and charges what it used', async () => {
    const { call, holds, balance } = await open();
    expect(call.isMetered).toBe(true);
    expect(holds).toMatchObject([{ amount: 150_000, caps: [{ amount: 15 }] }]);
    call.meter.accept();
    call.meter.record({ type: 'text', text: 'Hi' });
    call.meter.record({ type: 'finish', reason: 'stop' });
    call.meter.record({ type: 'usage', usage: { input: 9, output: 1 } });
    expect(await call.end('finished')).toEqual({ charged: 100_000, usage: { input: 9, output: 1 } });
    expect(await balance()).toMatchObject({ available: 900_000, held: 0 });
  });

  it('ends once', async () => {
    const { call, balance } = await open();
    call.meter.accept();
    const end = call.end('left');
    expect(call.end('finished')).toBe(end);
    await call.release();
    await call.left();
    expect(await end).toEqual({ charged: 100_000, usage: INPUT });
    expect(await balance()).toMatchObject({ available: 900_000, held: 0 });
  });

  it('is free when its client leaves before the provider accepts it', async () => {
    const { call, balance } = await open();
    expect(await call.end('left')).toBeUndefined();
    expect(await balance()).toMatchObject({ available: 1_000_000, held: 0 });
  });

  it('is charged its input when its client leaves later', async () => {
    const { call, charges } = await open();
    call.meter.accept();
    expect(await call.left()).toBeUndefined();
    expect(await charges()).toMatchObject([{ amount: 100_000, usage: INPUT }]);
  });

  it('is free after its release', async () => {
    const { call, balance } = await open();
    call.meter.accept();
    expect(await call.release()).toBeUndefined();
    expect(await call.end('finished')).toBeUndefined();
    expect(await balance()).toMatchObject({ available: 1_000_000, held: 0 });
  });

  it('holds and charges nothing where credits are not enforced', async () => {
    const { call, holds, charges } = await open({
      isMetered: false,
      entry: { ...PRICED, prices: undefined },
    });
    expect(call.isMetered).toBe(false);
    expect(holds).toMatchObject([{ amount: 0 }]);
    call.meter.accept();
    expect(await call.end('left')).toEqual({ charged: 0, usage: INPUT });
    expect(await charges()).toMatchObject([{ amount: 0, usage: INPUT }]);
  });

  it('stops its provider', async () => {
    const { call } = await open();
    const reason = new Error('left');
    await call.control.cancelAfterDisconnect(reason, async () => undefined);
    expect(call.control.signal.reason).toBe(reason);
  });
});
