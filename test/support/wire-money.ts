import { fromCredits, type Mountable, toFetchHandler } from '@questline/core';
import { expect, vi } from 'vitest';
import { type ChatApp, createChatApp, silent } from './chat.ts';
import type { ModelCall } from './model.ts';

const CALLS = 1000;
const PAID = 100;

/** How to ask over a wire, and how it refuses for lack of credit. */
export interface PaidWire {
  createApi(services: ChatApp['services']): Mountable;
  readonly mountPath: string;
  /** Below the mount. */
  readonly path: string;
  readonly body: unknown;
  readonly refusal: { readonly status: number; readonly error: Readonly<Record<string, unknown>> };
  /** Parallel calls, and how many of them are paid. Default 1,000 and 100. */
  readonly calls?: readonly [all: number, paid: number];
  /** Whether a worker runs. Default false. */
  readonly started?: boolean;
}

function answer(call: ModelCall): void {
  call.say({ type: 'text', text: 'x' }, { type: 'usage', usage: { input: 1, output: 1 } });
  call.say({ type: 'finish', reason: 'stop' });
  call.end();
}

/** Expects that 1,000 parallel calls on credit for 100 are admitted exactly 100 times, and that the ledger agrees. */
export async function expectExactAdmission(wire: PaidWire): Promise<void> {
  const [all, paid] = wire.calls ?? [CALLS, PAID];
  const held: number[] = [];
  const app = await createChatApp({
    started: wire.started ?? false,
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
  const handle = toFetchHandler(wire.createApi(app.services), { mountPath: wire.mountPath });
  const send = async (): Promise<{ readonly status: number; readonly text: string }> => {
    const request = new Request(`http://questline.test${wire.mountPath}${wire.path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${app.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(wire.body),
    });
    const response = await handle(request);
    return { status: response?.status ?? 0, text: (await response?.text()) ?? '' };
  };
  const probe = send();
  await vi.waitFor(() => expect(app.calls).toHaveLength(1));
  for (const call of app.calls) answer(call);
  expect((await probe).status).toBe(200);

  const [amount = 0] = held;
  const { available } = await app.ledger.balance(app.account);
  const credit = Math.floor(amount * paid + amount / 2);
  await app.ledger.grant({ account: app.account, amount: credit - available, key: 'set', reason: 'set' });
  const asked = Array.from({ length: all }, send);
  let refused = 0;
  for (const one of asked) void one.then(({ status }) => (refused += Number(status === wire.refusal.status)));
  await vi.waitFor(() => expect(refused).toBe(all - paid), 60_000);
  expect(app.calls).toHaveLength(1 + paid);
  for (const call of app.calls.slice(1)) answer(call);
  const outcomes = await Promise.all(asked);
  expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(paid);
  for (const { status, text } of outcomes) {
    if (status !== 200) expect(JSON.parse(text).error).toMatchObject(wire.refusal.error);
  }
  const charges = await app.ledger.charges({ account: app.account }, all + 1);
  expect(charges).toHaveLength(1 + paid);
  const { posted, held: open } = await app.ledger.balance(app.account);
  const spent = charges.reduce((sum, charge) => sum + charge.amount, 0);
  expect(open).toBe(0);
  expect(posted).toBe(fromCredits(10) + credit - available - spent);
}
