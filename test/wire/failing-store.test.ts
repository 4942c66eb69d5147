import type { Operation } from '@questline/core';
import { StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { defaultCall } from '../ownership/usual.ts';
import { createBreakableStore } from '../support/store.ts';
import { createTestApp } from '../support/test-app.ts';

/*
 * Walks the operations of these tags: the store fails at its first call, at its second one, and so on. No operation
 * reports success for work that failed, so it waits for each of its calls.
 */

const TAGS: readonly (string | undefined)[] = [
  'Account',
  'API keys',
  'Artifacts',
  'Audit',
  'Budgets',
  'Organizations',
  'Projects',
  'Sharing',
  'Users',
];

const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => operation).filter(({ tag }) => TAGS.includes(tag));

/** The call that records the use of a key: its failure is only reported to the host. */
const ONLY_REPORTED = 'authenticate';

/** The outcome when the store fails after so many calls of the operation; undefined: it needs no more calls. */
async function fail(operation: Operation, callsBefore: number): Promise<string | undefined> {
  const breakable = createBreakableStore();
  const { wire, asked } = await defaultCall(operation, { store: breakable.wrap });
  const { app, send } = wire;
  breakable.failure = new StorageUnavailable('lost');
  breakable.callsBeforeFailure = callsBefore;
  const status = await send(asked).then(
    (answer) => answer.status,
    (error: Error) => error.message,
  );
  await app.settle();
  const isOver = breakable.callsBeforeFailure >= 0;
  breakable.failure = undefined;
  await app.api.close();
  if (isOver) expect(status).toBeLessThan(400);
  if (isOver) return undefined;
  const isHarmless = status === 200 && app.incidents.some(({ operation: of }) => of === ONLY_REPORTED);
  return isHarmless ? 'reported to the host' : `${status}`;
}

describe('operation whose store fails at any call', () => {
  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    'reports no success: %s',
    async (_, operation) => {
      const allowed = ['503', 'reported to the host', 'the answer broke off'];
      for (let calls = 0; ; calls += 1) {
        const outcome = await fail(operation, calls);
        if (outcome === undefined) break;
        expect(allowed, `after ${calls} calls: ${outcome}`).toContain(outcome);
      }
    },
  );
});
