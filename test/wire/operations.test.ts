import { describe, expect, it } from 'vitest';
import { askedIn, expectCase, toTestAppOptions } from '../support/cases.ts';
import { createTestApp } from '../support/test-app.ts';
import { createWire } from '../support/wire.ts';
import { CASES } from './cases/index.ts';

const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => operation);

describe('table of expected answers', () => {
  it('has entries for exactly the existing operations', () => {
    expect(Object.keys(CASES).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
  });

  it('has an entry for every success and error that an operation declares', () => {
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
      const wire = await createWire(await toTestAppOptions(operation, one));
      const asked = await askedIn(operation, one, wire.app);
      const answer = await wire.send(asked);
      expectCase(operation, one, wire.app, answer);
      await wire.app.api.close();
    });
  });
}
