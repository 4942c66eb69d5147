import { COLLECTIONS, type Operation } from '@questline/core';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type Answer, type Asked, createWire } from '../support/wire.ts';
import { getTopFields } from './fields.ts';
import { CALLER_KINDS, type CallerKind, defaultCall } from './usual.ts';

/*
 * Only the server sets these fields. Every write is sent to two apps with identical content: once unchanged,
 * once with fields that would give a user more. Both must store the same records.
 */

const OTHER = 'f'.repeat(24);

/** Fields that a user might send. Operations that declare a field of that name are excluded. */
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

// Also generates the API description, which takes IDs of the app that does it first.
const { api } = (await createWire()).app;
const WRITES = api.routes
  .map(({ operation }) => operation)
  .filter(({ input, bodyType }) => input.body !== undefined && bodyType !== 'multipart');

/** The complete content of the store. */
async function readContent(store: Store): Promise<Readonly<Record<string, unknown>>> {
  const content: Record<string, unknown> = {};
  for (const shape of COLLECTIONS) {
    const records = await store.collection<{ id: string; lastUsedAt?: unknown }>(shape as never).find({});
    // Every call updates the last use of a key, even if it is rejected.
    content[shape.name] = records.map(({ lastUsedAt: _, ...record }) => record);
  }
  return content;
}

interface Outcome {
  readonly answer: Answer;
  readonly before: unknown;
  readonly after: unknown;
}

async function ask(
  operation: Operation,
  callers: CallerKind,
  change: (asked: Asked) => Asked,
): Promise<Outcome> {
  const { wire, asked } = await defaultCall(operation, {}, callers);
  const { store, ledger } = wire.app.services;
  const read = async () => ({
    ...(await readContent(store)),
    entries: await ledger.entries(wire.app.account, { limit: 100 }),
    others: await ledger.entries(`user:${OTHER}`, { limit: 100 }),
  });
  const before = await read();
  const answer = await wire.send(change(asked));
  await wire.app.settle();
  const after = await read();
  await wire.app.api.close();
  return { answer, before, after };
}

function withWishes(operation: Operation, asked: Asked): Asked {
  const own = getTopFields(operation);
  const wishes = Object.entries(WISHES).filter(([name]) => !own.has(name));
  return { ...asked, body: { ...Object.fromEntries(wishes), ...(asked.body as object | undefined) } };
}

/** A completion names the fields that it ignored. */
function withoutIgnored(answer: Answer): unknown {
  return JSON.parse(JSON.stringify(answer).replaceAll(/,\\"ignored\\":\[[^\]]*\]/g, ''));
}

describe.each(CALLER_KINDS)('fields set by the server cannot be set by a request, with %s', (callers) => {
  it.each(WRITES.map((operation) => [operation.id, operation] as const))('%s', async (_id, operation) => {
    const usual = await ask(operation, callers, (asked) => asked);
    expect(usual.answer.status).toBeLessThan(400);
    const wished = await ask(operation, callers, (asked) => withWishes(operation, asked));
    // The comparison proves nothing unless both apps are equal before.
    expect(wished.before).toEqual(usual.before);
    if (wished.answer.status === 422) {
      // The operation rejects unknown fields.
      expect(wished.after).toEqual(wished.before);
    } else {
      expect(withoutIgnored(wished.answer)).toEqual(withoutIgnored(usual.answer));
      expect(wished.after).toEqual(usual.after);
    }
  });
});
