import { describe, expect, test } from 'vitest';
import { type Prices, priceModel } from '../credits/pricing.ts';
import type { ModelPart } from '../ports/models.ts';
import { createMeter } from './meter.ts';

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
});
