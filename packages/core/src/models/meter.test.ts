import { describe, expect, test } from 'vitest';
import { type Prices, priceModel } from '../credits/pricing.ts';
import type { ModelPart } from '../ports/models.ts';
import { createMeter, type MeterOptions } from './meter.ts';

const prices = priceModel('text', { input: 100, output: 100 }) as Prices;
const basis = {
  prices,
  prompt: { characters: 250, images: 0 },
  contextWindow: 100_000,
  maxTokens: 5000,
  unseenPerSecond: 100,
};
const RESERVED = 51_000_000;

function getMeter(parts: readonly ModelPart[], seconds = 0, reserved = RESERVED) {
  let now = 0;
  const clock = { now: () => now, timer: () => () => undefined };
  const meter = createMeter({ basis, isMetered: true, reserved, clock });
  meter.ask();
  meter.accept();
  now = seconds * 1000;
  for (const part of parts) meter.record(part);
  return meter;
}

const text: ModelPart = { type: 'text', text: 'x'.repeat(25) };

describe('meter', () => {
  test('counts reasoning and tool arguments, each once', () => {
    const meter = getMeter([
      { type: 'thinking_delta', text: 'x'.repeat(25) },
      { type: 'tool_use_delta', index: 0, id: 'a', name: 'sum', arguments: 'x'.repeat(12) },
      { type: 'tool_use_delta', index: 0, arguments: 'x'.repeat(10) },
      { type: 'tool_use', id: 'a', name: 'sum', arguments: 'x'.repeat(22) },
      { type: 'tool_use', id: 'b', name: 'sum', arguments: 'x'.repeat(22) },
    ]);
    expect(meter.read('broken').usage).toEqual({ input: 100, output: 30 });
  });

  test('rejects a report that was made before the answer broke off', () => {
    const early: ModelPart = { type: 'usage', usage: { input: 90, output: 1 } };
    expect(getMeter([early, text]).read('broken').usage).toEqual({ input: 100, output: 10 });
  });

  test('uses an early report for the input when the client disconnects, and adds the output', () => {
    const early: ModelPart = { type: 'usage', usage: { input: 90, output: 1 } };
    expect(getMeter([early, text]).read('left').usage).toEqual({ input: 90, output: 11 });
  });

  test('charges the larger of the visible and the estimated hidden output, at most the output cap', () => {
    expect(getMeter([text], 2).read('left').usage).toEqual({ input: 100, output: 10, reasoning: 190 });
    expect(getMeter([text], 0.05).read('left').usage).toEqual({ input: 100, output: 10 });
    expect(getMeter([text], 3600).read('left')).toMatchObject({
      usage: { output: 10, reasoning: 4990 },
      amount: RESERVED,
    });
  });

  test('never charges a client that disconnects more than the hold', () => {
    expect(getMeter([text], 10, 1_000_000).read('left').amount).toBe(1_000_000);
  });

  test('charges a complete answer by its report when the client disconnects', () => {
    const usage = { input: 90, output: 12, reasoning: 7 };
    const meter = getMeter([text, { type: 'finish', reason: 'stop' }], 60);
    expect(meter.awaitsReport).toBe(true);
    meter.record({ type: 'usage', usage });
    expect(meter.awaitsReport).toBe(false);
    expect(meter.read('left')).toMatchObject({ usage, reported: true });
  });

  test('charges a client that disconnects once the provider has accepted the call, and a failure with output', () => {
    const clock = { now: () => 0, timer: () => () => undefined };
    const meter = createMeter({ basis, isMetered: true, reserved: RESERVED, clock });
    meter.ask();
    expect([meter.isDue('left'), meter.isDue('broken')]).toEqual([false, false]);
    meter.accept();
    expect([meter.isDue('left'), meter.isDue('broken')]).toEqual([true, false]);
    meter.record(text);
    expect([meter.isDue('left'), meter.isDue('broken')]).toEqual([true, true]);
  });

  const create = (change: Partial<MeterOptions> = {}) =>
    createMeter({
      ...{ basis, isMetered: true, reserved: RESERVED },
      clock: { now: () => 0, timer: () => () => undefined },
      ...change,
    });
  const report = (output: number): ModelPart => ({ type: 'usage', usage: { input: 90, output } });
  const finish: ModelPart = { type: 'finish', reason: 'stop' };

  test('counts a tool call without its beginning, and one that breaks off', () => {
    const whole: ModelPart = { type: 'tool_use', id: 'a', name: 'sum', arguments: 'x'.repeat(23) };
    expect(getMeter([whole]).read('broken').usage).toEqual({ input: 100, output: 11 });
    const begun: ModelPart = { ...whole, type: 'tool_use_delta', index: 0 };
    expect(getMeter([begun]).read('broken').usage).toEqual({ input: 100, output: 11 });
  });

  test('counts visible text separately, after that of an earlier meter', () => {
    const meter = create({ spoken: 5 });
    expect([meter.spoken, meter.produced]).toEqual([5, true]);
    meter.record({ type: 'thinking_delta', text: 'xx' });
    meter.record({ type: 'text', text: 'xxx' });
    expect(meter.spoken).toBe(8);
    expect(meter.read('broken').usage).toEqual({ input: 100, output: 4 });
  });

  test('counts output from its first character, and every finished call', () => {
    const meter = create();
    expect([meter.produced, meter.isDue('left'), meter.isDue('finished')]).toEqual([false, false, true]);
    meter.record({ type: 'text', text: 'x' });
    expect([meter.produced, meter.isDue('broken')]).toEqual([true, true]);
  });

  test('charges a disconnect during another attempt only once it is accepted', () => {
    const meter = create();
    meter.ask();
    meter.accept();
    meter.ask();
    expect(meter.isDue('left')).toBe(false);
  });

  test('awaits the report that follows the last output', () => {
    expect(getMeter([text]).awaitsReport).toBe(false);
    expect(getMeter([finish]).awaitsReport).toBe(true);
    expect(getMeter([report(10), { type: 'text', text: 'x' }, finish]).awaitsReport).toBe(true);
    expect(getMeter([report(10), { type: 'text', text: '' }, finish]).awaitsReport).toBe(false);
  });

  test('charges a finished call by its report, however small', () => {
    const long: ModelPart = { type: 'text', text: 'x'.repeat(100) };
    expect(getMeter([long, report(1), finish]).read('finished')).toMatchObject({ reported: true });
  });

  test('adds the output after an interim report when the client disconnects', () => {
    const call = getMeter([text, report(20), text]).read('left');
    expect(call).toMatchObject({ usage: { input: 90, output: 30 }, reported: false });
    expect(getMeter([text, report(20)]).read('left').reported).toBe(false);
    expect(getMeter([report(20), text, finish]).read('left').reported).toBe(false);
  });

  test('estimates no hidden output without a rate or without time', () => {
    const { unseenPerSecond: _, ...rateless } = basis;
    for (const some of [rateless, { ...basis, unseenPerSecond: 1000 }]) {
      const meter = create({ basis: some });
      meter.ask();
      meter.accept();
      expect(meter.read('left').usage).toEqual({ input: 100, output: 0 });
    }
  });

  test('charges nothing for a call that is not metered or has no prices', () => {
    const { prices: _, ...unpriced } = basis;
    for (const change of [{ isMetered: false }, { basis: unpriced }]) {
      const meter = create(change);
      meter.record(text);
      expect(meter.read('finished')).toMatchObject({ amount: 0, usage: { input: 100, output: 10 } });
    }
  });

  test('estimates hidden output from the last attempt to the end of the answer', () => {
    let now = 1000;
    const meter = create({ clock: { now: () => now, timer: () => () => undefined } });
    meter.ask();
    meter.accept();
    now = 2000;
    meter.record(text);
    meter.record(finish);
    now = 60_000;
    expect(meter.read('left').usage).toEqual({ input: 100, output: 10, reasoning: 90 });
  });

  test('rejects a report beyond the context window', () => {
    const usage = { input: 10 ** 9, output: 10 };
    expect(getMeter([text, { type: 'usage', usage }]).read('finished')).toMatchObject({
      ...{ reported: false, rejected: usage },
    });
  });
});
