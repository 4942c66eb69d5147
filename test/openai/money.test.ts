import { fromCredits, toFetchHandler } from '@questline/core';
import { createOpenAIApi } from '@questline/openai';
import { describe, expect, it, vi } from 'vitest';
import { createChatApp, silent } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';
import { ASK } from './support.ts';

const CALLS = 1000;
const PAID = 100;

function answer(call: ModelCall): void {
  call.say({ type: 'text', text: 'x' }, { type: 'usage', usage: { input: 1, output: 1 } });
  call.say({ type: 'finish', reason: 'stop' });
  call.end();
}

describe('credits over the OpenAI wire', () => {
  it.each([false, true])(
    'admits exactly 100 of 1,000 parallel calls on credit for 100 (stream: %s)',
    async (stream) => {
      const held: number[] = [];
      const app = await createChatApp({
        started: false,
        credits: 10,
        onCall: silent,
        ledger: (ledger) => ({
          ...ledger,
          hold(request, options) {
            held.push(request.amount);
            return ledger.hold(request, options);
          },
        }),
      });
      const handle = toFetchHandler(createOpenAIApi(app.services), { mountPath: '/openai' });
      const send = async (): Promise<{ status: number; code?: string; text: string }> => {
        const request = new Request('http://questline.test/openai/v1/chat/completions', {
          method: 'POST',
          headers: { Authorization: `Bearer ${app.key}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ ...ASK, stream, max_tokens: 50 }),
        });
        const response = await handle(request);
        const text = (await response?.text()) ?? '';
        const status = response?.status ?? 0;
        return { status, text, ...(status >= 400 && { code: JSON.parse(text).error.code }) };
      };
      const probe = send();
      await vi.waitFor(() => expect(app.calls).toHaveLength(1));
      for (const call of app.calls) answer(call);
      expect((await probe).status).toBe(200);

      const [amount = 0] = held;
      const { available } = await app.ledger.balance(app.account);
      const credit = amount * PAID + amount / 2;
      await app.ledger.grant({
        account: app.account,
        amount: Math.floor(credit) - available,
        key: 'set',
        reason: 'set',
      });
      const asked = Array.from({ length: CALLS }, send);
      let refused = 0;
      for (const one of asked) void one.then(({ status }) => (refused += Number(status === 429)));
      await vi.waitFor(() => expect(refused).toBe(CALLS - PAID), 20_000);
      expect(app.calls).toHaveLength(1 + PAID);
      for (const call of app.calls.slice(1)) answer(call);
      const outcomes = await Promise.all(asked);
      expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(PAID);
      expect(outcomes.filter(({ code }) => code === 'insufficient_quota')).toHaveLength(CALLS - PAID);
      const charges = await app.ledger.charges({ account: app.account }, CALLS);
      expect(charges).toHaveLength(1 + PAID);
      const { posted, held: open } = await app.ledger.balance(app.account);
      const spent = charges.reduce((sum, charge) => sum + charge.amount, 0);
      expect(open).toBe(0);
      expect(posted).toBe(fromCredits(10) + Math.floor(credit) - available - spent);
    },
  );
});
