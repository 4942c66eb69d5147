import type { PeriodicTask } from '../jobs/engine.ts';
import type { RetentionRule } from '../operations/retention.ts';
import type { Services } from './services.ts';

const DAY_MS = 86_400_000;
const BATCH = 100;
/** Bounds one run: what is left waits for the next one. */
const MAX_BATCHES = 20;

/** Deletes records that are older than the host keeps them, in bounded batches. */
export function createRetentionSweep(
  { clock, retention, onError }: Pick<Services, 'clock' | 'retention' | 'onError'>,
  rules: readonly RetentionRule[],
): PeriodicTask {
  /** @returns whether there may be more. */
  const sweep = async (rule: RetentionRule, before: number): Promise<boolean> => {
    if ('removeBefore' in rule) return (await rule.removeBefore(before, BATCH)) === BATCH;
    const { find, remove } = rule;
    const old = await find(before, BATCH);
    let removed = 0;
    for (const { id } of old) {
      try {
        await remove(id);
        removed += 1;
      } catch (error) {
        // One that fails does not keep the others.
        onError({ operation: 'retention', requestId: '', error });
      }
    }
    return removed > 0 && old.length === BATCH;
  };

  return {
    name: 'sweep-retention',
    everyMs: 600_000,
    async run() {
      for (const rule of rules) {
        const days = retention[rule.kind] ?? rule.defaultDays;
        if (days === undefined) continue;
        const before = clock.now() - days * DAY_MS;
        for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
          if (!(await sweep(rule, before))) break;
        }
      }
    },
  };
}
