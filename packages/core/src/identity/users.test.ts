import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { USERS } from './records.ts';
import { createUser, type NewUser } from './users.ts';

function setUp() {
  const store = createMemoryStore();
  const clock = createFakeClock();
  const create = (input: Partial<NewUser> = {}) =>
    createUser(
      { store, clock, ids: createFakeIds() },
      { email: 'ada@example.com', username: 'ada', ...input },
    );
  return { store, clock, create };
}

describe('an account of a host', () => {
  it('is free, enabled and no administrator by default', async () => {
    const { store, clock, create } = setUp();
    const user = await create();
    expect(user).toEqual({
      ...{ id: expect.stringMatching(/^[0-9a-f]{24}$/), email: 'ada@example.com', username: 'ada' },
      ...{ firstName: null, lastName: null, organizationId: null, isAdmin: false, disabled: false },
      ...{ tokenVersion: 0, tier: 'free', preferences: {}, createdAt: clock.now() },
    });
    expect(user).not.toHaveProperty('startingCredits');
    expect(await store.collection(USERS).get(String(user?.id))).toEqual(user);
  });

  it('has what the host says of it', async () => {
    const { create } = setUp();
    const name = { firstName: 'Ada', lastName: 'Lovelace' };
    const given = { id: 'a'.repeat(24), ...name, isAdmin: true, tier: 'pro', startingCredits: 0 } as const;
    expect(await create({ ...given, email: '  Ada@Example.com ' })).toMatchObject({
      ...given,
      email: 'ada@example.com',
    });
  });

  it('is not made twice for one address or id', async () => {
    const { create } = setUp();
    const id = 'a'.repeat(24);
    expect(await create({ id })).toBeDefined();
    expect(await create({ id, email: 'eve@example.com' })).toBeUndefined();
    expect(await create({ id: 'b'.repeat(24), email: 'ADA@example.com' })).toBeUndefined();
  });

  it.each(['', 'a'.repeat(23), 'a'.repeat(25), 'A'.repeat(24), 'g'.repeat(24)])(
    'is not made with the id "%s"',
    async (id) => {
      const { store, create } = setUp();
      await expect(create({ id })).rejects.toThrow(
        new RangeError(
          `id: expected 24 lower-case hexadecimal characters, got ${JSON.stringify(id)}. ` +
            'Map the ids of other accounts, for example with a hash.',
        ),
      );
      expect(await store.collection(USERS).count({})).toBe(0);
    },
  );
});
