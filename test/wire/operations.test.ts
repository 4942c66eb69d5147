import { describe, expect, it } from 'vitest';
import { askedIn, expectCase, worldOptionsOf } from '../support/cases.ts';
import { createWire } from '../support/wire.ts';
import { createWorld } from '../support/world.ts';
import { CASES } from './cases/index.ts';

const { api } = await createWorld();
const OPERATIONS = api.routes.map(({ operation }) => operation);

describe('the table of answers', () => {
  it('has rows for every operation there is, and for no other', () => {
    expect(Object.keys(CASES).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
  });

  it('has a row for every success and every refusal that an operation states', () => {
    const missing = OPERATIONS.flatMap((operation) => {
      const shown = new Set(CASES[operation.id]?.map(({ status }) => status));
      const stated = [
        ...Object.keys(operation.output),
        ...(operation.refusals ?? []).map(({ status }) => status),
      ];
      return stated
        .filter((status) => !shown.has(Number(status)))
        .map((status) => `${operation.id} ${status}`);
    });
    expect(missing).toEqual([]);
  });
});

for (const operation of OPERATIONS) {
  describe(operation.id, () => {
    it.each((CASES[operation.id] ?? []).map((one) => [one.title, one] as const))('%s', async (_, one) => {
      const wire = await createWire(await worldOptionsOf(operation, one));
      const asked = await askedIn(operation, one, wire.world);
      const answer = await wire.send(asked);
      expectCase(operation, one, wire.world, answer);
      await wire.world.api.close();
    });
  });
}
