import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventHandler } from '@questline/core';
import { createRandom } from '@questline/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { getExamples } from '../docs/pages.ts';
import { createChatApp } from '../support/chat.ts';

const KEY = 'sk_test_1';

/** Counts usage as Stripe does: each identifier once. Randomly it is unavailable or loses its answer. */
async function startMeter() {
  const random = createRandom(3);
  const counted = new Map<string, { readonly customer: string; readonly value: number }>();
  const refused: string[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const form = new URLSearchParams(Buffer.concat(parts).toString());
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    };
    const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    if (request.url !== '/v1/billing/meter_events' || !isForm) return answer(404, {});
    if (request.headers.authorization !== `Bearer ${KEY}`) return answer(401, {});
    if (random.chance(0.3)) return answer(503, {});
    const id = form.get('identifier') ?? '';
    const value = Number(form.get('payload[value]'));
    if (id.length > 100 || form.get('event_name') !== 'micro_credits' || !Number.isSafeInteger(value)) {
      return answer(400, {});
    }
    if (counted.has(id)) {
      refused.push(id);
      return answer(400, { error: { code: 'duplicate_meter_event' } });
    }
    counted.set(id, { customer: form.get('payload[stripe_customer_id]') ?? '', value });
    if (random.chance(0.3)) response.destroy();
    else answer(200, { object: 'billing.meter_event' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { counted, refused, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('billing program of the guide', () => {
  it('bills exactly the charges of the ledger although the meter fails or loses answers', async () => {
    const [code] = getExamples('docs/guides/own-billing.md').flatMap((example) =>
      example.code.includes('createStripeBilling(\n') ? [example.code] : [],
    );
    const program = stripTypeScriptTypes(code ?? '');
    const { createStripeBilling } = (await import(`data:text/javascript,${encodeURIComponent(program)}`)) as {
      createStripeBilling(
        key: string,
        find: (account: string) => Promise<string | undefined>,
        url: string,
      ): EventHandler;
    };
    const meter = await startMeter();
    const bill = createStripeBilling(KEY, async (account) => `cus_${account}`, meter.url);
    let running = 0;
    const app = await createChatApp({
      settings: {
        admin: { DefaultAPIModel: 'scripted' },
        async onEvent(event) {
          running += 1;
          try {
            await bill(event);
          } finally {
            running -= 1;
          }
        },
      },
    });
    for (let call = 0; call < 12; call += 1) await app.chat({ message: 'Hi' });
    await app.settle();
    const entries = await app.ledger.entries(app.account, { limit: 100 });
    const charged = entries.flatMap(({ kind, amount }) => (kind === 'charge' ? [-amount] : []));
    expect(charged).toHaveLength(12);
    while (meter.counted.size < charged.length || running > 0) {
      // The meter is a real server, so the clock of the app waits for its answers.
      if (running > 0) await sleep(1);
      else await app.clock.advance(600_000);
      await app.settle();
    }
    await app.clock.advance(600_000);
    await app.settle();
    while (running > 0) await sleep(1);
    const bills = [...meter.counted.values()];
    expect(bills.map(({ value }) => value).sort()).toEqual(charged.sort());
    expect(new Set(bills.map(({ customer }) => customer))).toEqual(new Set([`cus_${app.account}`]));
    expect(meter.refused.length).toBeGreaterThan(0);
  });
});
