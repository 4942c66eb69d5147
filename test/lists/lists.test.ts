import type { Operation } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { defaultCall } from '../ownership/usual.ts';
import { getListFields, type ListField, putList } from '../support/list-fields.ts';
import { createCountingStore } from '../support/store.ts';
import { createTestApp } from '../support/test-app.ts';
import type { Answer } from '../support/wire.ts';
import { createEntries } from './entries.ts';

/*
 * Walks every operation: each list of its body with two entries, with its maximum and with one more. Most
 * entries refer to existing records, so that they are looked up.
 */

/** Additional store calls that a longer list may cause, whatever its length. */
const ALLOWANCE = 4;

/** Lists with a further rule that generated entries do not meet. */
const REFUSED: Readonly<Record<string, string>> = {
  'sendChatMessage clientTools': 'requires `approvals`',
  'decideQuestCalls decisions': 'the quest has fewer waiting calls',
  'createApiKey scopes': 'there are fewer scopes than the list allows',
  'createApiKey models': 'there are fewer models than the list allows',
  'createBudget models': 'there are fewer models than the list allows',
  'updateOrganization models': 'there are fewer models than the list allows',
};

/** Lists that write each entry: the store changes or removes one record at a time. */
const WRITTEN: Readonly<Record<string, string>> = {
  'createProject session_ids': 'each session shows its project',
  'updateProject session_ids': 'each session shows its project',
  'deleteRegistrationInvites ids': 'each invite is accepted',
};

const { api } = await createTestApp();
const FIELDS = api.routes.flatMap(({ operation }) =>
  getListFields(operation).map((field) => [`${operation.id} ${field.path}`, operation, field] as const),
);

async function send(
  operation: Operation,
  field: ListField,
  length: number,
): Promise<{ answer: Answer; calls: number }> {
  const counting = createCountingStore();
  const { wire, asked } = await defaultCall(operation, { store: counting.wrap });
  const { app } = wire;
  const entries = await createEntries(app, field, length);
  const body = putList(asked.body, field, entries);
  await app.api.start();
  await app.settle();
  counting.calls = 0;
  const answer = await wire.send({ ...asked, body });
  for (let rounds = 0; rounds < 5; rounds += 1) await app.settle();
  const { calls } = counting;
  await app.api.close();
  return { answer, calls };
}

describe('list in a request', () => {
  it.each(FIELDS)('accepts its maximum and rejects one more: %s', async (title, operation, field) => {
    const { maxItems = 0 } = field.node;
    const { answer: most } = await send(operation, field, maxItems);
    expect(most.text).not.toContain(`got a list of ${maxItems}`);
    if (REFUSED[title] === undefined && !most.text.includes('tool_use'))
      expect(most.status).toBeLessThan(400);
    const { answer: more } = await send(operation, field, maxItems + 1);
    expect(more.status).toBe(operation.bodyFault?.status ?? 422);
    expect(more.text).toContain(`got a list of ${maxItems + 1}`);
    expect(more.text).toContain(String(maxItems));
  });

  const read = FIELDS.filter(([title]) => WRITTEN[title] === undefined);

  it.each(read)(
    'uses the same number of store calls for any length: %s',
    async (_title, operation, field) => {
      const { maxItems = 0 } = field.node;
      const few = await send(operation, field, Math.min(2, maxItems));
      const most = await send(operation, field, maxItems);
      expect(most.calls).toBeLessThanOrEqual(few.calls + ALLOWANCE);
    },
  );
});

describe('list with a duplicate entry', () => {
  const distinct = FIELDS.filter(([, , { node }]) => node.uniqueItems === true);

  it.each(distinct)('stores the entry once: %s', async (_title, operation, field) => {
    const { wire, asked } = await defaultCall(operation);
    const [entry] = await createEntries(wire.app, field, 1);
    const body = operation.input.body?.parse(putList(asked.body, field, [entry, entry, entry]));
    const keys = field.path.split('.').map((key) => (key === '[]' ? 0 : key));
    const taken = keys.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown>)[key], body);
    expect(taken).toEqual([entry]);
    await wire.app.api.close();
  });
});
