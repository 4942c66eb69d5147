import { describe, expect, it } from 'vitest';
import { createOpenAIApp, type OpenAIApp, readError } from './support.ts';
import { QUESTION } from './support-responses.ts';

const KEY = { 'Idempotency-Key': 'a' };

async function grant({ ledger, account }: OpenAIApp): Promise<void> {
  await ledger.grant({ account, amount: 1_000_000_000, key: 'more', reason: 'more' });
}

async function countCharges({ ledger, account }: OpenAIApp): Promise<number> {
  return (await ledger.charges({ account }, 100)).length;
}

describe('the key of a response that failed before any output', () => {
  it.each([
    ['plain', {}],
    ['streamed', { stream: true }],
  ])('makes one response for all requests that follow (%s)', async (_title, more) => {
    const app = await createOpenAIApp({ credits: 0 });
    const send = (change = {}) => app.send('POST', '/responses', { ...QUESTION, ...more, ...change }, KEY);
    const refused = await send();
    expect([refused.status, (await readError(refused)).code]).toEqual([429, 'insufficient_quota']);
    await grant(app);
    const first = await send();
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
    const text = await first.text();
    const second = await send();
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(await second.text()).toBe(text);
    expect((await readError(await send({ temperature: 1 }))).code).toBe('idempotency_key_reused');
    expect(app.calls).toHaveLength(1);
    expect(await countCharges(app)).toBe(1);
  });

  it('adds one turn to its conversation', async () => {
    const app = await createOpenAIApp({ credits: 0 });
    const { id: conversation } = await app.client.conversations.create({});
    const send = () => app.send('POST', '/responses', { ...QUESTION, conversation }, KEY);
    expect((await send()).status).toBe(429);
    await grant(app);
    const answers = [await send(), await send(), await send()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
    expect((await app.client.conversations.items.list(conversation)).data).toHaveLength(2);
    expect(await countCharges(app)).toBe(1);
  });
});

describe('the key of a response that was deleted', () => {
  it('makes one response for all requests that follow, also at the same time', async () => {
    const app = await createOpenAIApp();
    const send = () => app.send('POST', '/responses', QUESTION, KEY);
    const { id } = (await (await send()).json()) as { id: string };
    await app.client.responses.delete(id);
    // As in life, time has passed.
    await app.clock.advance(1000);
    const answers = await Promise.all(Array.from({ length: 10 }, send));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const ids = await Promise.all(answers.map(async (one) => ((await one.json()) as { id: string }).id));
    expect(new Set(ids).size).toBe(1);
    expect(ids).not.toContain(id);
    expect(app.calls).toHaveLength(2);
    expect(await countCharges(app)).toBe(2);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});
