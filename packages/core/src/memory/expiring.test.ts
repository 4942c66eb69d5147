import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryExpiringRecords } from './expiring.ts';

function setUp() {
  const clock = createFakeClock();
  return { clock, records: createMemoryExpiringRecords({ clock }) };
}

it('keeps a record until its end', async () => {
  const { clock, records } = setUp();
  expect([await records.create('a', '1', 100), await records.create('a', '2', 100)]).toEqual([true, false]);
  await clock.advance(99);
  expect([await records.get('a'), await records.create('a', '2', 100)]).toEqual(['1', false]);
  await clock.advance(1);
  expect([await records.get('a'), await records.take('a')]).toEqual([undefined, undefined]);
  expect([await records.create('a', '2', 100), await records.get('a')]).toEqual([true, '2']);
});

it('gives a record once', async () => {
  const { records } = setUp();
  await records.create('a', '1', 100);
  expect([await records.take('a'), await records.take('a'), await records.get('a')]).toEqual([
    ...['1', undefined, undefined],
  ]);
});

it('replaces and removes records', async () => {
  const { clock, records } = setUp();
  await records.set('a', '1', 100);
  await clock.advance(50);
  await records.set('a', '2', 100);
  await clock.advance(99);
  expect(await records.get('a')).toBe('2');
  await records.remove('a');
  await records.remove('none');
  expect([await records.get('a'), await records.create('a', '3', 1)]).toEqual([undefined, true]);
});

it('keeps what lives while it forgets what has ended', async () => {
  const { clock, records } = setUp();
  for (let at = 0; at < 50; at += 1) await records.create(`short ${at}`, 'x', 10);
  for (let at = 0; at < 5; at += 1) await records.create(`long ${at}`, `${at}`, 10_000);
  await clock.advance(10);
  for (let at = 0; at < 100; at += 1) await records.create(`new ${at}`, 'x', 10_000);
  for (let at = 0; at < 5; at += 1) expect(await records.get(`long ${at}`)).toBe(`${at}`);
  for (let at = 0; at < 50; at += 1) expect(await records.create(`short ${at}`, 'y', 10)).toBe(true);
});

it('does nothing for a signal that is aborted', async () => {
  const { records } = setUp();
  await records.create('a', '1', 100);
  const options = { signal: AbortSignal.abort(new Error('left')) };
  for (const call of [
    records.create('b', '1', 100, options),
    records.get('a', options),
    records.take('a', options),
    records.set('a', '2', 100, options),
    records.remove('a', options),
  ])
    await expect(call).rejects.toThrow('left');
  expect([await records.get('a'), await records.get('b')]).toEqual(['1', undefined]);
});
