import { describe, expect, it } from 'vitest';
import { catchFailure, FAILED_MESSAGE, openCircuit, openCompletion } from '../../../test/completion-run.ts';
import { ProviderError } from '../../ports/models.ts';

const hello = { type: 'text', text: 'Hello' } as const;
const finish = { type: 'finish', reason: 'stop' } as const;
const usage = { type: 'usage', usage: { input: 9, output: 1 } } as const;
const gone = new ProviderError('timeout', 'gone');

describe('whole answer', () => {
  it('is read to its end, then charged', async () => {
    const { read, vendor, log, parts, incidents, streams, leftovers, settle, balance } =
      await openCompletion();
    const reading = read();
    vendor.answer.say(hello);
    await settle();
    expect(streams.size).toBe(1);
    vendor.answer.say([finish, usage]);
    vendor.answer.end();
    expect(await reading).toEqual({
      ...{ cost: { charged: 100_000, usage: { input: 9, output: 1 } }, isMetered: true },
      ...{ finishReason: 'stop', entry: vendor.entry },
    });
    expect(parts).toEqual([hello, finish, usage]);
    expect(log).toEqual(['hold call 150000', 'ask m', 'settle 100000']);
    expect(vendor.answer.reads).toBe(3);
    expect(incidents).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
    expect(await balance()).toMatchObject({ available: 900_000, held: 0 });
  });

  it('is charged its input when it has no part', async () => {
    const { read, vendor, log, parts } = await openCompletion();
    vendor.answer.end();
    expect(await read()).toMatchObject({ cost: { charged: 100_000 }, finishReason: undefined });
    expect(parts).toEqual([]);
    expect(log).toEqual(['hold call 150000', 'ask m', 'settle 100000']);
  });

  it('is free where credits are not enforced', async () => {
    const { read, vendor, log } = await openCompletion({ enforceCredits: false });
    vendor.answer.say(hello);
    vendor.answer.end();
    expect(await read()).toMatchObject({ cost: { charged: 0 }, isMetered: false });
    expect(log).toEqual(['ask m']);
  });
});

describe('whole answer that fails', () => {
  it('is free and reported before its first output', async () => {
    const { read, vendor, log, incidents, leftovers, balance } = await openCompletion();
    vendor.answer.fail(new Error('gone'));
    expect(await catchFailure(read())).toBe(FAILED_MESSAGE);
    expect(log.slice(2)).toEqual(['cancel m', 'stop m: gone', 'release']);
    expect(incidents).toEqual([{ operation: 'ask', requestId: 'r-1', error: new Error('gone') }]);
    expect(leftovers()).toEqual([0, 0, 0]);
    expect(await balance()).toMatchObject({ available: 1_000_000, held: 0 });
  });

  it('is charged and reported after it', async () => {
    const { read, vendor, log, parts, incidents, leftovers } = await openCompletion();
    vendor.answer.say(hello);
    vendor.answer.fail(new Error('gone'));
    expect(await catchFailure(read())).toBe(FAILED_MESSAGE);
    expect(parts).toEqual([hello]);
    expect(log.slice(2)).toEqual(['cancel m', 'stop m: gone', 'settle 120000', 'charge']);
    expect(incidents).toHaveLength(1);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it('asks nothing and is no incident without credit', async () => {
    const { read, log, incidents, leftovers } = await openCompletion({ credit: 149_999 });
    expect(await catchFailure(read())).toMatch(/^422 /);
    expect(log).toEqual(['hold call 150000']);
    expect(incidents).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it('holds and asks nothing while its circuit is open', async () => {
    const { read, services, vendor, log, leftovers } = await openCompletion();
    await openCircuit(services, vendor.entry);
    expect(await catchFailure(read())).toBe('503 The model provider is overloaded. Try again shortly.');
    expect(log).toEqual([]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });
});

describe('whole answer with a fallback model', () => {
  it('is that of the fallback when the model fails', async () => {
    const { read, vendor, others, log, parts, incidents, leftovers } = await openCompletion({
      standIns: ['s'],
    });
    vendor.refuse(gone);
    others[0]?.answer.say(hello);
    others[0]?.answer.end();
    expect(await read()).toMatchObject({ cost: { charged: 120_000 }, entry: others[0]?.entry });
    expect(parts).toEqual([hello]);
    expect(log).toEqual([
      ...['hold call 150000', 'ask m', 'release'],
      ...['hold call:1 150000', 'ask s', 'settle 120000'],
    ]);
    expect(incidents).toEqual([{ operation: 'ask', requestId: 'r-1', error: gone }]);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it('fails as the model did when all fail', async () => {
    const { read, vendor, others, log, incidents, leftovers } = await openCompletion({ standIns: ['s'] });
    vendor.refuse(gone);
    others[0]?.refuse(new ProviderError('not_configured', 'no key'));
    expect(await catchFailure(read())).toBe('500 Model response error: the provider did not answer in time');
    expect(log.filter((entry) => entry === 'release')).toHaveLength(2);
    expect(log).not.toContain('charge');
    expect(incidents).toHaveLength(2);
    expect(leftovers()).toEqual([0, 0, 0]);
  });

  it('fails before it holds anything while all circuits are open', async () => {
    const { read, services, vendor, others, log } = await openCompletion({ standIns: ['s'] });
    for (const { entry } of [vendor, ...others]) await openCircuit(services, entry);
    expect(await catchFailure(read())).toBe('503 The model provider is overloaded. Try again shortly.');
    expect(log).toEqual([]);
  });
});

describe('whole answer with server tools', () => {
  it('begins with their lists', async () => {
    const list = { type: 'server_tool_list', server: 'wiki', tools: [] } as const;
    const serverTools = { tools: [], maxCalls: 1, lists: [list] };
    const { read, vendor, parts, log } = await openCompletion({ asked: { serverTools } });
    vendor.answer.say(hello);
    vendor.answer.end();
    expect(await read()).toMatchObject({ cost: { charged: 120_000 }, entry: vendor.entry });
    expect(parts).toEqual([list, hello]);
    expect(log).toEqual(['hold call 150000', 'ask m', 'settle 120000']);
  });
});
