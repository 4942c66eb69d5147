import { createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { createUserCode, createUserCodeHash } from './user-code.ts';

/** Ids with these random bytes, in pieces of the requested length. */
function createIds(bytes: readonly number[]) {
  const left = [...bytes];
  return { ...createFakeIds(), bytes: (length: number) => Uint8Array.from(left.splice(0, length)) };
}

it('makes a code of eight consonants, with a dash in the middle', () => {
  expect(createUserCode(createIds([0, 1, 2, 3, 16, 17, 18, 19]))).toBe('BCDF-VWXZ');
});

it('uses only bytes with which all letters are equally likely', () => {
  const bytes = [240, 255, 239, 20, 241, 40, 60, 250];
  expect(createUserCode(createIds([...bytes, 1, 21, 41, 61, 2, 3, 4, 5]))).toBe('ZBBB-CCCC');
});

it('hashes a code as a person types it, under the secret', () => {
  const hash = createUserCodeHash(Buffer.from('secret'));
  for (const typed of ['bcdf-vwxz', ' BCDF VWXZ ', 'BcDfVwXz', 'B.C.D.F/V_W_X_Z'])
    expect(hash(typed)).toBe(hash('BCDF-VWXZ'));
  expect(hash('BCDF-VWXB')).not.toBe(hash('BCDF-VWXZ'));
  expect(createUserCodeHash(Buffer.from('other'))('BCDF-VWXZ')).not.toBe(hash('BCDF-VWXZ'));
});
