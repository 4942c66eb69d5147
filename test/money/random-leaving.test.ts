import { promptSize } from '@questline/core/internal';
import type { ModelInfo } from '@questline/core/ports';
import { createRandom, type Random } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { createScriptedProvider, type ModelCall, type ScriptedProvider } from '../support/model.ts';

const ATTEMPTS = 500;
/** Maximum tokens per second. */
const SPEED = 100;
const CHARACTERS_PER_TOKEN = 4;
const CHUNK_TOKENS = 100;
const MICRO_CREDITS = { input: 100, output: 1000 };

const MODEL: ModelInfo = {
  id: 'thinker',
  name: 'Thinker',
  type: 'text',
  provider: 'scripted',
  contextWindow: 400_000,
  maxOutputTokens: 64_000,
  supportsThinking: true,
  supportsTools: true,
  outputTokensPerSecond: SPEED,
  prices: { input: 1, output: 10 },
};

/** The answer of a provider. Times are milliseconds after the call. */
interface Plan {
  readonly acceptedAt: number;
  readonly reasoning: number;
  readonly answer: number;
  /** Tokens per millisecond. */
  readonly speed: number;
  readonly endsAt: number;
  readonly reportDelay: number;
}

function makePlan(random: Random): Plan {
  const reasoning = 200 + random.below(6000);
  const answer = 25 + random.below(1200);
  // The catalogue states the maximum speed of a provider.
  const speed = (SPEED / 1000) * (0.88 + random.below(12) / 100);
  const acceptedAt = 50 + random.below(600);
  const endsAt = (reasoning + answer) / speed;
  return { acceptedAt, reasoning, answer, speed, endsAt, reportDelay: random.below(300) };
}

/** The provider's bill for a call that is aborted at the given time. */
function getBill(
  { acceptedAt, reasoning, answer, speed, endsAt }: Plan,
  call: ModelCall,
  at: number,
): number {
  if (at < acceptedAt) return 0;
  const made = at >= endsAt ? reasoning + answer : Math.floor(at * speed);
  const input = Math.ceil(promptSize(call.request).characters / CHARACTERS_PER_TOKEN);
  return input * MICRO_CREDITS.input + made * MICRO_CREDITS.output;
}

function perform(plan: Plan, call: ModelCall, wait: (ms: number, run: () => void) => void): Promise<void> {
  const { acceptedAt, reasoning, answer, speed, endsAt, reportDelay } = plan;
  for (let from = 0; from < answer; from += CHUNK_TOKENS) {
    const tokens = Math.min(CHUNK_TOKENS, answer - from);
    const text = 'x'.repeat(tokens * CHARACTERS_PER_TOKEN);
    const at = Math.max(acceptedAt, (reasoning + from + tokens) / speed);
    wait(at, () => call.say({ type: 'text', text }));
  }
  const input = Math.ceil(promptSize(call.request).characters / CHARACTERS_PER_TOKEN);
  wait(endsAt, () => call.say({ type: 'finish', reason: 'stop' }));
  wait(endsAt + reportDelay, () => {
    call.say({ type: 'usage', usage: { input, output: answer, reasoning } });
    call.end();
  });
  return new Promise((resolve) => wait(acceptedAt, resolve));
}

async function createLeavingApp(seed: number) {
  const random = createRandom(seed);
  let plan = makePlan(random);
  let app: ChatApp | undefined;
  const provider: ScriptedProvider = createScriptedProvider(
    (call) => perform(plan, call, (ms, run) => void app?.clock.timer(Math.round(ms), run)),
    [MODEL],
  );
  app = await createChatApp({
    model: provider,
    credits: 1_000_000,
    settings: { admin: { DefaultAPIModel: MODEL.id }, rateLimits: {} },
  });
  const nextPlan = (): Plan => {
    plan = makePlan(random);
    return plan;
  };
  return { random, provider, app, nextPlan };
}

interface Totals {
  billed: number;
  charged: number;
}

/** Disconnects at a random moment, and compares the charge with the bill. */
async function attempt(
  { random, provider, app, nextPlan }: Awaited<ReturnType<typeof createLeavingApp>>,
  start: (prompt: string) => Promise<{ leave: () => Promise<void> }>,
  totals: Totals,
): Promise<void> {
  const plan = nextPlan();
  const prompt = 'x'.repeat(100 + random.below(4000));
  const { leave } = await start(prompt);
  const call = provider.calls.at(-1);
  const [hold] = await app.ledger.charges({ account: app.account }, 1);
  if (call === undefined || hold?.status !== 'reserved') throw new Error('the call did not start');
  const at = random.below(Math.ceil(plan.endsAt + plan.reportDelay));
  await app.clock.advance(at);
  await app.settle();
  await leave();
  await app.settle();
  await app.clock.advance(2000);
  await app.settle();
  const [charge] = await app.ledger.charges({ account: app.account }, 1);
  expect(charge?.status).not.toBe('reserved');
  expect(charge?.amount).toBeLessThanOrEqual(hold.amount);
  totals.charged += charge?.amount ?? 0;
  totals.billed += getBill(plan, call, at);
}

describe(`${ATTEMPTS} disconnects at random moments from a model with hidden reasoning`, () => {
  const check = async (app: ChatApp, { charged, billed }: Totals, what: string): Promise<void> => {
    const share = charged / billed;
    console.info(`${ATTEMPTS} ${what}: ${Math.round(share * 1000) / 10} % of the bill charged`);
    expect(share).toBeGreaterThanOrEqual(0.8);
    expect(share).toBeLessThanOrEqual(1.2);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.incidents).toEqual([]);
  };

  it('charge completions 80 to 120 % of the bill in total, never above a hold, and leave no open hold', async () => {
    const parts = await createLeavingApp(11);
    const { app } = parts;
    const totals: Totals = { billed: 0, charged: 0 };
    for (let number = 0; number < ATTEMPTS; number += 1) {
      await attempt(
        parts,
        async (content) => {
          const control = new AbortController();
          const body = { model: MODEL.id, messages: [{ role: 'user', content }], max_tokens: 16_000 };
          const asked = app.ask('POST', '/api/ai/v1/completions', { body, signal: control.signal });
          const reading = asked.then(
            async (response) => {
              const reader = response.body?.getReader();
              control.signal.addEventListener('abort', () => void reader?.cancel());
              while ((await reader?.read())?.done === false);
            },
            () => undefined,
          );
          await app.settle();
          return {
            async leave() {
              control.abort();
              await reading.catch(() => undefined);
            },
          };
        },
        totals,
      );
    }
    await check(app, totals, 'completions');
  });

  it('charge cancelled chats 80 to 120 % of the bill in total, never above a hold, and leave no open hold', async () => {
    const parts = await createLeavingApp(12);
    const { app } = parts;
    const totals: Totals = { billed: 0, charged: 0 };
    for (let number = 0; number < ATTEMPTS; number += 1) {
      await attempt(
        parts,
        async (message) => {
          const { body } = await app.chat({ message, max_tokens: 16_000 });
          await app.settle();
          return {
            async leave() {
              await app.json('POST', `/api/v1/quests/${body.id}/cancel`);
            },
          };
        },
        totals,
      );
    }
    await check(app, totals, 'chats');
  });
});
