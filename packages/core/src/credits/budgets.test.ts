import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import { isApiError } from '../shared/errors.ts';
import { BUDGETS, type BudgetRecord, isCounted } from './budget-rules.ts';
import { createBudgets } from './budgets.ts';
import { createHoldHeartbeat } from './hold-heartbeat.ts';
import { reserve } from './reservations.ts';
import { createSettlementRetries } from './settlement-retries.ts';

const onError = () => undefined;

const HOUR = 3_600_000;
/** Changes of daylight time in Berlin and New York, and the end of a month. */
const STARTS = [
  '2026-03-28T20:00:00Z',
  '2026-10-24T20:00:00Z',
  '2026-11-01T02:00:00Z',
  '2026-02-27T20:00:00Z',
];
const ACCOUNT = 'organization:o';

function rule(id: string, change: Partial<BudgetRecord>): BudgetRecord {
  const scope = { scope: 'everyone', scopeId: null, subject: 'everyone', userId: null } as const;
  return {
    id,
    name: id,
    ...scope,
    models: null,
    window: 'day',
    timeZone: 'Europe/Berlin',
    unit: 'credits',
    amount: 100,
    action: 'refuse',
    ownKeys: 'count',
    managedBy: 'administrator',
    signature: id,
    createdAt: 0,
    updatedAt: 0,
    ...change,
  };
}

const RULES = [
  rule('all', { unit: 'tokens', window: 'month', amount: 900 }),
  rule('user', { subject: 'user:a', unit: 'credits', window: 'day', amount: 200 }),
  rule('key', {
    subject: 'key:k',
    unit: 'requests',
    window: 'hour',
    timeZone: 'America/New_York',
    amount: 3,
  }),
  rule('organization', { subject: ACCOUNT, unit: 'concurrent', window: 'total', amount: 2 }),
  rule('model', { subject: 'user:b', unit: 'credits', window: 'week', models: ['large'], amount: 90 }),
  rule('own', { subject: 'user:b', unit: 'tokens', window: 'day', ownKeys: 'ignore', amount: 150 }),
  rule('noted', { subject: 'user:a', unit: 'requests', window: 'total', action: 'notify', amount: 1 }),
];

/** A format takes longer to create than all of its uses. */
const formats = new Map<string, Intl.DateTimeFormat>();

function getFormat(timeZone: string): Intl.DateTimeFormat {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  formats.set(timeZone, format);
  return format;
}

/** The name of the window of an instant, by the local clock. */
function nameWindow({ window, timeZone }: BudgetRecord, instant: number): string {
  if (window === 'total') return '';
  const text = getFormat(timeZone).format(instant);
  const date = text.slice(0, 10);
  if (window === 'day') return date;
  if (window === 'month') return date.slice(0, 7);
  if (window === 'hour') return `${text.slice(0, 13)} ${Date.parse(`${text.replace(' ', 'T')}Z`) - instant}`;
  const weekday = (new Date(date).getUTCDay() + 6) % 7;
  return new Date(Date.parse(date) - weekday * 24 * HOUR).toISOString().slice(0, 10);
}

const step = fc.record({
  hours: fc.constantFrom(0, 0, 0, 0.5, 1, 3, 20),
  userId: fc.constantFrom('a', 'b'),
  hasKey: fc.boolean(),
  model: fc.constantFrom('small', 'large'),
  isOwnKey: fc.boolean(),
  isMetered: fc.constantFrom(true, true, true, false),
  amount: fc.nat({ max: 60 }),
  tokens: fc.nat({ max: 120 }),
  end: fc.constantFrom('settle', 'release', 'open', 'later'),
  actual: fc.nat({ max: 60 }),
  usedTokens: fc.nat({ max: 120 }),
});

/** A call in the model, with what it counts per rule. */
interface Modelled {
  readonly at: number;
  readonly rules: readonly BudgetRecord[];
  counts: Readonly<Record<BudgetRecord['unit'], number>>;
}

it('budgets admit exactly what a simple model allows, over changes of daylight time and ends of months', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...STARTS),
      fc.array(step, { minLength: 10, maxLength: 60 }),
      async (start, steps) => {
        let now = Date.parse(start);
        const clock = { now: () => now, timer: () => () => undefined };
        const store = createMemoryStore();
        for (const one of RULES) await store.collection(BUDGETS).insert(one);
        const ledger = createMemoryLedger({ clock });
        await ledger.grant({ account: ACCOUNT, amount: 1_000_000, key: 'start', reason: 'start' });
        const budgets = createBudgets({ store, clock });
        const services = {
          ledger,
          budgets,
          heartbeat: createHoldHeartbeat({ ledger, clock, onError }),
          settlementRetries: createSettlementRetries({
            clock,
            ids: { bytes: () => Uint8Array.of(255) },
            onError,
          }),
          clock,
          onError,
        };
        const calls: Modelled[] = [];
        let endLater: (() => Promise<unknown>)[] = [];

        const sum = (one: BudgetRecord): number => {
          const name = nameWindow(one, now);
          const same = calls.filter(({ at, rules }) => rules.includes(one) && nameWindow(one, at) === name);
          return same.reduce((total, { counts }) => total + counts[one.unit], 0);
        };

        for (const [place, call] of steps.entries()) {
          const { userId, model, isOwnKey, isMetered, tokens } = call;
          if (call.hours > 0) {
            for (const end of endLater) await end();
            endLater = [];
            now += call.hours * HOUR;
            // Holds that are still open have expired, because their worker is gone.
            for (const one of calls) if (one.counts.concurrent > 0) one.counts = NOTHING;
          }
          const payer = { account: ACCOUNT, userId, ...(call.hasKey && { keyId: 'k' }) };
          const subjects = ['everyone', `user:${userId}`, ACCOUNT, ...(call.hasKey ? ['key:k'] : [])];
          const rules = RULES.filter(
            (one) => subjects.includes(one.subject) && isCounted(one, { model, isOwnKey, isMetered }),
          );
          const adds = { credits: call.amount, tokens, requests: 1, concurrent: 1 };
          const isOver = rules.some(
            (one) => one.action === 'refuse' && sum(one) + adds[one.unit] > one.amount,
          );
          const request = {
            ...{ payer, model, isOwnKey, tokens, amount: call.amount, metered: isMetered },
            ...{ key: `call ${place}`, operation: 'test', requestId: 'r' },
          };
          const outcome = await reserve(services, request).catch((error: unknown) => error);
          expect(isApiError(outcome) ? outcome.code : 'held').toBe(isOver ? 'budget_exceeded' : 'held');
          if (isApiError(outcome)) continue;
          const reserved = outcome as Awaited<ReturnType<typeof reserve>>;
          const modelled: Modelled = { at: now, rules, counts: adds };
          calls.push(modelled);
          const settle = async () => {
            await reserved.settle(call.actual, { output: call.usedTokens });
            modelled.counts = { credits: call.actual, tokens: call.usedTokens, requests: 1, concurrent: 0 };
          };
          if (call.end === 'settle') await settle();
          if (call.end === 'later') endLater.push(settle);
          if (call.end === 'release') {
            await reserved.release();
            modelled.counts = NOTHING;
          }
        }
      },
    ),
    { numRuns: 150 },
  );
});

const NOTHING = { credits: 0, tokens: 0, requests: 0, concurrent: 0 };
