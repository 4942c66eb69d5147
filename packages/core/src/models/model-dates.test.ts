import { describe, expect, it } from 'vitest';
import type { ModelInfo } from '../ports/models.ts';
import { findNextChange, isRetired, parseDay, withCurrentPrices } from './model-dates.ts';

const DAY = Date.UTC(2026, 0, 31);
const MODEL: ModelInfo = {
  id: 'm',
  name: 'M',
  type: 'text',
  provider: 'p',
  contextWindow: 1000,
  maxOutputTokens: 100,
  prices: { input: 1 },
};
const TIERS = [{ above: 1000, prices: { input: 9 } }] as unknown as NonNullable<ModelInfo['priceTiers']>;

describe('day of a model', () => {
  it('begins at midnight UTC', () => {
    expect(parseDay('2026-01-31')).toBe(DAY);
  });

  it.each([undefined, '', '2026-1-31', '2026-01-31T00:00:00Z', 'x2026-01-31', '2026-13-01', '2026-01-32'])(
    'has no effect if it is %j',
    (day) => {
      expect(parseDay(day)).toBeUndefined();
      expect(isRetired({ deprecationDate: day as string }, Number.MAX_SAFE_INTEGER)).toBe(false);
    },
  );

  it('retires the model from its first millisecond on', () => {
    const deprecationDate = '2026-01-31';
    expect([DAY - 1, DAY, DAY + 1].map((at) => isRetired({ deprecationDate }, at))).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe('prices at a moment', () => {
  const changing: ModelInfo = {
    ...MODEL,
    priceTiers: TIERS,
    priceChanges: [
      { from: '2026-02-02', prices: { input: 3 }, priceTiers: TIERS },
      { from: '2026-01-31', prices: { input: 2 } },
      { from: 'soon', prices: { input: 4 } },
    ],
  };
  const at = (moment: number) => {
    const { prices, priceTiers, priceChanges } = withCurrentPrices(changing, moment);
    return [prices?.input, priceTiers, priceChanges?.map(({ from }) => from)];
  };

  it('are those of the latest change that has begun, with only the changes to come', () => {
    expect(withCurrentPrices(MODEL, DAY)).toBe(MODEL);
    expect(withCurrentPrices(changing, DAY - 1)).toBe(changing);
    expect(at(DAY)).toEqual([2, undefined, ['2026-02-02', 'soon']]);
    expect(at(Date.UTC(2026, 1, 2) - 1)).toEqual([2, undefined, ['2026-02-02', 'soon']]);
    expect(at(Date.UTC(2026, 1, 2))).toEqual([3, TIERS, ['soon']]);
  });

  it('stand without changes after the last one', () => {
    const once: ModelInfo = { ...MODEL, priceChanges: [{ from: '2026-01-31', prices: { input: 2 } }] };
    expect(withCurrentPrices(once, DAY)).toEqual({ ...MODEL, prices: { input: 2 } });
  });

  it('change next at the earliest date to come, that of the retirement included', () => {
    expect(findNextChange(MODEL, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(findNextChange(changing, DAY - 1)).toBe(DAY);
    expect(findNextChange(changing, DAY)).toBe(Date.UTC(2026, 1, 2));
    expect(findNextChange({ ...changing, deprecationDate: '2026-02-01' }, DAY)).toBe(Date.UTC(2026, 1, 1));
    expect(findNextChange(changing, Date.UTC(2026, 1, 2))).toBe(Number.POSITIVE_INFINITY);
  });
});
