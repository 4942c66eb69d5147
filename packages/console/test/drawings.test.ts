import { describe, expect, it } from 'vitest';
import { readChart } from '../app/drawings/chart-data.ts';
import { getScale } from '../app/drawings/scale.ts';

describe('chart in the console', () => {
  it('parses a chart up to its last number', () => {
    const payload = {
      kind: 'bar',
      x: 'm',
      series: ['a', 'b'],
      data: [
        { m: 'Jan', a: 1, b: '2.5' },
        { m: 3, a: 'x' },
      ],
    };
    expect(readChart(payload)).toEqual({
      kind: 'bar',
      title: 'a, b',
      x: 'm',
      labels: ['Jan', '3'],
      series: [
        { name: 'a', values: [1, undefined] },
        { name: 'b', values: [2.5, undefined] },
      ],
    });
    for (const other of [
      undefined,
      null,
      3,
      {},
      { ...payload, kind: 'map' },
      { ...payload, data: [{ m: 1 }] },
    ]) {
      expect(readChart(other)).toBeUndefined();
    }
  });

  it('draws an axis of round numbers that covers every value', () => {
    const marks = (values: number[]) => getScale(values, { from: 100, to: 0, withZero: true }).marks;
    expect(marks([3530, 1012])).toEqual([0, 1000, 2000, 3000, 4000]);
    expect(marks([-2, 7])).toEqual([-2, 0, 2, 4, 6, 8]);
    expect(marks([0.3])).toEqual([0, 0.1, 0.2, 0.3]);
    expect(marks([0]).length).toBeGreaterThan(1);
    expect(getScale([50], { from: 100, to: 0, withZero: true }).at(50)).toBe(0);
  });
});
