import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import { createDeviceLogins } from './logins.ts';
import { DEVICE_LOGINS } from './records.ts';

const DEVICE = { clientId: 'cli', userAgent: null, address: null };
const APPROVED = { status: 'approved', userId: 'u', tokenVersion: 0 } as const;

function setUp(bytes?: (length: number) => Uint8Array) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const ids = { ...createFakeIds(), ...(bytes && { bytes }) };
  return { clock, store, logins: createDeviceLogins({ store, clock, ids, secret: Buffer.from('secret') }) };
}

it('chooses another code when a login with the same one waits', async () => {
  let calls = 0;
  const { store, logins } = setUp((length) => new Uint8Array(length).fill(calls++ < 2 ? 0 : 1));
  expect((await logins.begin(DEVICE)).userCode).toBe('BBBB-BBBB');
  const { userCode, deviceCode } = await logins.begin(DEVICE);
  expect(userCode).toBe('CCCC-CCCC');
  expect(await store.collection(DEVICE_LOGINS).count({})).toBe(2);
  expect(await logins.poll(deviceCode, 'cli')).toEqual({ kind: 'pending' });
});

it('finds a login by its own code, until it is decided or expired', async () => {
  const { clock, logins } = setUp();
  const first = await logins.begin(DEVICE);
  const second = await logins.begin({ ...DEVICE, clientId: 'other' });
  expect((await logins.find(first.userCode))?.clientId).toBe('cli');
  expect((await logins.find(second.userCode))?.clientId).toBe('other');
  expect(await logins.find('BCDF-GHJK')).toBeUndefined();
  await logins.decide(first.userCode, APPROVED);
  expect(await logins.find(first.userCode)).toBeUndefined();
  await clock.advance(599_999);
  expect(await logins.find(second.userCode)).toBeDefined();
  await clock.advance(1);
  expect(await logins.find(second.userCode)).toBeUndefined();
});
