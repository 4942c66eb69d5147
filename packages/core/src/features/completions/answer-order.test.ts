import { describe, expect, it } from 'vitest';
import { catchFailure, openCircuit, openCompletion, withLongAnswer } from '../../../test/completion-run.ts';
import { ProviderError } from '../../ports/models.ts';
import { generateInOrder } from './answer.ts';

const hello = { type: 'text', text: 'Hello' } as const;
const gone = new ProviderError('timeout', 'gone');
const END = { done: true, value: undefined };

/** An answer of the models `m` and `s`. */
async function open(setUp: Parameters<typeof openCompletion>[0] = {}, holdKey?: string) {
  const opened = await openCompletion({ standIns: ['s'], ...setUp });
  const { services, call, asked, others } = opened;
  const [standIn] = others;
  if (standIn === undefined) throw new Error('there is no fallback');
  return { ...opened, standIn, answer: generateInOrder(services, call, asked, holdKey) };
}

describe('answer of models in order', () => {
  it('holds and asks with its first step', async () => {
    const { answer, asked, vendor, log } = await open();
    expect([answer.money, answer.entry, log]).toEqual([undefined, vendor.entry, []]);
    vendor.answer.say(hello);
    expect(await answer.source.next()).toEqual({ done: false, value: hello });
    expect(answer.money?.isMetered).toBe(true);
    expect(answer.entry).toBe(vendor.entry);
    expect(log).toEqual(['hold call 150000', 'ask m']);
    expect(vendor.requests[0]).toBe(asked.request);
    vendor.answer.end();
    expect(await answer.source.next()).toEqual(END);
  });

  it('is that of the fallback when the model fails, with a hold of its own', async () => {
    const { answer, asked, vendor, standIn, log, holds, incidents } = await open({}, 'key');
    vendor.refuse(gone);
    standIn.answer.say(hello);
    await answer.source.next();
    expect(log).toEqual(['hold key 150000', 'ask m', 'release', 'hold key:1 150000', 'ask s']);
    expect(holds.map(({ details }) => `${details.operation} ${details.model}`)).toEqual(['ask m', 'ask s']);
    expect(standIn.requests).toEqual([{ ...asked.request, model: 's' }]);
    expect(answer.entry).toBe(standIn.entry);
    expect(incidents).toEqual([{ operation: 'ask', requestId: 'r-1', error: gone }]);
    expect(await answer.money?.end('finished')).toMatchObject({ charged: 100_000 });
  });

  it('is that of the model that answers, once its circuit is open', async () => {
    const { answer, services, vendor, standIn, log } = await open();
    await openCircuit(services, vendor.entry);
    standIn.answer.say(hello);
    await answer.source.next();
    expect(log).toEqual(['hold call 150000', 'ask s']);
    expect(answer.entry).toBe(standIn.entry);
  });

  it('remains that of the model when the fallback cannot be paid', async () => {
    const { services, call, asked, vendor, standIn, log } = await open();
    const unpriced = { ...standIn.entry, prices: undefined };
    const answer = generateInOrder(services, call, { ...asked, standIns: [unpriced] });
    vendor.refuse(gone);
    expect(await catchFailure(answer.source.next())).toMatch(/^422 .*'s' has no price/);
    expect(answer.entry).toBe(vendor.entry);
    expect(log).toEqual(['hold call 150000', 'ask m', 'release']);
  });

  it('has a key per hold when its output limit is lowered', async () => {
    const { answer, vendor, log } = await open({ credit: 60_000_000, asked: withLongAnswer(false) });
    vendor.answer.say(hello);
    await answer.source.next();
    expect(log).toEqual(['hold call 100100000', 'hold call:1 50100000', 'ask m']);
    expect(vendor.requests[0]?.maxTokens).toBe(5000);
  });

  it('keeps the output limit of the request', async () => {
    const { answer, log } = await open({ credit: 60_000_000, asked: withLongAnswer(true) });
    expect(await catchFailure(answer.source.next())).toMatch(/^422 /);
    expect(log).toEqual(['hold call 100100000']);
  });

  it.each([
    ['completions', '500 Model response error: the provider did not answer in time'],
    ['public', '502 The model gave no answer: the provider did not answer in time.'],
  ] as const)('fails in the words of its family: %s', async (family, message) => {
    const { answer, vendor } = await open({ asked: { family, standIns: [] } });
    vendor.refuse(gone);
    expect(await catchFailure(answer.source.next())).toBe(message);
  });
});

describe('cancellation of an answer of models in order', () => {
  it('stops a provider that has not answered', async () => {
    const { answer, vendor, settle, log } = await open();
    const accept = vendor.wait();
    const step = answer.source.next();
    await settle();
    expect(await answer.source.return()).toEqual(END);
    await expect(step).rejects.toThrow('aborted');
    expect(log).toEqual(['hold call 150000', 'ask m', 'stop m: This operation was aborted', 'release']);
    accept();
    await settle();
    expect(log.slice(4)).toEqual(['cancel m']);
  });

  it('stops a provider that answers, once', async () => {
    const { answer, vendor, log } = await open();
    vendor.answer.say(hello);
    await answer.source.next();
    expect(await answer.source.return()).toEqual(END);
    expect(log.slice(2)).toEqual(['cancel m']);
  });

  it('follows a disconnect before the first output', async () => {
    const { answer, leaving, settle, log, charges } = await open();
    const step = answer.source.next();
    await settle();
    leaving.abort(new Error('left'));
    await expect(step).rejects.toThrow('left');
    expect(log).toContain('settle 100000');
    expect(log).not.toContain('ask s');
    expect(await charges()).toMatchObject([{ amount: 100_000 }]);
  });
});
