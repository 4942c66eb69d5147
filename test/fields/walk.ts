import type { Operation } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../support/test-app.ts';
import { createWalker, type Effect } from './effects.ts';
import { type Field, getFields } from './places.ts';
import { NOT_SENT, WITHOUT_EFFECT } from './without-effect.ts';

/** Fields per test. */
const SHARE = 10;

const { api } = await createTestApp();
export const OPERATIONS: readonly Operation[] = api.routes.map(({ operation }) => operation);

function isExpected(name: string, effect: Effect): boolean {
  if (name in WITHOUT_EFFECT) return effect === 'none';
  if (name in NOT_SENT) return effect === 'answer only';
  return ['calls', 'state', 'refusal'].includes(effect);
}

/** The fields of an operation in shares, each for one test. */
function getShares(operation: Operation): readonly [title: string, Operation, readonly Field[]][] {
  const fields = getFields(operation);
  return Array.from({ length: Math.ceil(fields.length / SHARE) }, (_, share) => {
    const own = fields.slice(share * SHARE, (share + 1) * SHARE);
    return [`${operation.id} from ${own[0]?.path}`, operation, own];
  });
}

/** Changes one field at a time of these operations. */
export function describeFields(operations: readonly Operation[]): void {
  describe('field of a request', () => {
    it.each(operations.flatMap(getShares))(
      'has an effect: %s',
      { timeout: 60_000 },
      async (_, operation, fields) => {
        const walker = createWalker(operation);
        const wrong: Record<string, Effect> = {};
        for (const field of fields) {
          const name = `${operation.id} ${field.path}`;
          const effect = await walker.find(field);
          if (!isExpected(name, effect)) wrong[name] = effect;
        }
        const isSteady = await walker.isSteady();
        await walker.close();
        expect(
          wrong,
          'Each of these fields needs an effect, a value in values.ts or a state in setups/ that shows it, or its reason in without-effect.ts.',
        ).toEqual({});
        expect(isSteady, 'the same request has the same traces').toBe(true);
      },
    );
  });
}
