import { COLLECTIONS, type Operation, type Store } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type Answer, type Asked, createWire } from '../support/wire.ts';
import { topFieldsOf } from './fields.ts';
import { usualCall } from './usual.ts';

/*
 * What a server decides, nobody else does. Every write is asked twice, in two worlds that are alike to the last byte: once
 * as it is, once with fields that would give somebody more. Both must leave the same records behind.
 */

const OTHER = 'f'.repeat(24);

/** What somebody might wish for. Where an operation takes a field of that name, the field is its own business. */
const WISHES: Readonly<Record<string, unknown>> = {
  _id: OTHER,
  account: `user:${OTHER}`,
  balance: 1_000_000,
  builtIn: true,
  createdAt: 0,
  created_at: '2020-01-01T00:00:00.000Z',
  credits: 1_000_000,
  disabled: false,
  hash: 'x',
  id: OTHER,
  invitedBy: OTHER,
  isAdmin: true,
  isActive: true,
  key: 'svc_live_x',
  keyId: OTHER,
  memberCount: 9,
  organization: OTHER,
  ownerId: OTHER,
  owner_id: OTHER,
  payer: { account: `user:${OTHER}`, userId: OTHER },
  readerIds: [OTHER],
  role: 'admin',
  scopes: ['admin:*'],
  startingCredits: 1_000_000,
  status: 'accepted',
  subscriptionTier: 'pro',
  tier: 'pro',
  tokenVersion: 7,
  userId: OTHER,
  user_id: OTHER,
  version: 99,
  writerIds: [OTHER],
};

// Also reads the published description once, which takes ids of the first world that does.
const { api } = (await createWire()).world;
const WRITES = api.routes
  .map(({ operation }) => operation)
  .filter(({ input, bodyType }) => input.body !== undefined && bodyType !== 'multipart');

/** Everything there is. */
async function contentOf(store: Store): Promise<Readonly<Record<string, unknown>>> {
  const content: Record<string, unknown> = {};
  for (const shape of COLLECTIONS) {
    const records = await store.collection<{ id: string; lastUsedAt?: unknown }>(shape as never).find({});
    // When a key was used last is written down by every call, refused or not.
    content[shape.name] = records.map(({ lastUsedAt: _, ...record }) => record);
  }
  return content;
}

interface Outcome {
  readonly answer: Answer;
  readonly before: unknown;
  readonly after: unknown;
}

async function ask(operation: Operation, change: (asked: Asked) => Asked): Promise<Outcome> {
  const { wire, asked } = await usualCall(operation);
  const { store, ledger } = wire.world.services;
  const read = async () => ({
    ...(await contentOf(store)),
    entries: await ledger.entries(wire.world.account, { limit: 100 }),
    others: await ledger.entries(`user:${OTHER}`, { limit: 100 }),
  });
  const before = await read();
  const answer = await wire.send(change(asked));
  await wire.world.settle();
  const after = await read();
  await wire.world.api.close();
  return { answer, before, after };
}

function withWishes(operation: Operation, asked: Asked): Asked {
  const own = topFieldsOf(operation);
  const wishes = Object.entries(WISHES).filter(([name]) => !own.has(name));
  return { ...asked, body: { ...Object.fromEntries(wishes), ...(asked.body as object | undefined) } };
}

describe('fields that a server decides change nothing', () => {
  it.each(WRITES.map((operation) => [operation.id, operation] as const))('%s', async (_id, operation) => {
    const usual = await ask(operation, (asked) => asked);
    expect(usual.answer.status).toBeLessThan(400);
    const wished = await ask(operation, (asked) => withWishes(operation, asked));
    // Two worlds that differ from the beginning would show nothing.
    expect(wished.before).toEqual(usual.before);
    if (wished.answer.status === 422) {
      // It knows its fields, and takes no others.
      expect(wished.after).toEqual(wished.before);
    } else {
      expect({ ...wished.answer }).toEqual({ ...usual.answer });
      expect(wished.after).toEqual(usual.after);
    }
  });
});
