import type { HostEvent } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { silent } from '../support/chat.ts';
import { reason } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp, readError, untilCalled } from './support.ts';
import { QUESTION, readEvents } from './support-responses.ts';

const BACKGROUND = { ...QUESTION, background: true };

/** Lets the worker run until the model has been called. */
async function untilEnded(app: OpenAIApp, id: string) {
  for (let count = 0; count < 50; count += 1) {
    const response = await app.client.responses.retrieve(id);
    if (response.status !== 'queued' && response.status !== 'in_progress') return response;
    await app.settle();
  }
  throw new Error('the response has not ended');
}

describe('responses in the background', () => {
  it('are polled until they end, and charged exactly', async () => {
    const events: HostEvent[] = [];
    const app = await createOpenAIApp({
      onCall: silent,
      settings: { onEvent: async (event) => void events.push(event) },
    });
    const accepted = await app.client.responses.create(BACKGROUND);
    expect(accepted).toMatchObject({ status: 'queued', output: [], background: true });
    expect(accepted).not.toHaveProperty('usage');
    await untilCalled(app);
    expect(await app.client.responses.retrieve(accepted.id)).toMatchObject({ status: 'in_progress' });
    const [call] = app.calls;
    if (call === undefined) throw new Error('the model was not called');
    await reason(call);
    const ended = await untilEnded(app, accepted.id);
    expect(ended).toMatchObject({
      status: 'completed',
      output_text: 'Rain.',
      credits: { used: 0.54 },
      usage: { input_tokens: 45, output_tokens: 9, output_tokens_details: { reasoning_tokens: 7 } },
    });
    expect(await app.ledger.charges({ account: app.account }, 10)).toMatchObject([
      { amount: 540_000, usage: { input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 } },
    ]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    await app.clock.advance(60_000);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'quest.done',
        data: expect.objectContaining({ id: accepted.id.slice('resp_'.length), kind: 'response' }),
      }),
    );
  });

  it('are cancelled once, and charged for what was produced', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    app.calls[0]?.say({ type: 'text', text: 'One two three' });
    await app.settle();
    expect(await app.client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    await app.calls[0]?.whenStopped;
    await app.settle();
    const { output_text: _, ...cancelled } = await app.client.responses.retrieve(id);
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      error: null,
      output: [{ type: 'message', status: 'incomplete', content: [{ text: 'One two three' }] }],
    });
    const [charge, ...others] = await app.ledger.charges({ account: app.account }, 10);
    expect(others).toEqual([]);
    expect(charge?.status).toBe('settled');
    expect(cancelled).toMatchObject({
      credits: { used: (charge?.amount ?? 0) / 1_000_000 },
      usage: { input_tokens: charge?.usage?.input, output_tokens: charge?.usage?.output },
    });
    expect(await app.client.responses.cancel(id)).toMatchObject(cancelled);
    const events = await readEvents(await app.send('GET', `/responses/${id}?stream=true`));
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: { status: 'cancelled' } });
    const refused = await app.send('POST', '/responses', { ...QUESTION, previous_response_id: id });
    expect([refused.status, (await readError(refused)).param]).toEqual([400, 'previous_response_id']);
  });

  it('are quests of the same id', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    const path = `/api/v1/quests/${id.slice('resp_'.length)}`;
    const stranger = await app.addUser('eve@example.com');
    const credential = await app.token(stranger);
    for (const [method, end] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ] as const) {
      expect((await app.ask(method, path + end, { credential })).status).toBe(404);
    }
    const own = { credential: await app.token() };
    expect((await app.json('GET', path, own)).body).toMatchObject({
      status: 'running',
      sessionId: id.slice(5),
    });
    expect((await app.json('POST', `${path}/cancel`, own)).body).toMatchObject({ status: 'stopped' });
    expect(await app.client.responses.retrieve(id)).toMatchObject({ status: 'cancelled' });
  });

  it('are cancelled before they begin, free of charge', async () => {
    const app = await createOpenAIApp({ started: false });
    const { id } = await app.client.responses.create(BACKGROUND);
    expect(await app.client.responses.cancel(id)).toMatchObject({ status: 'cancelled', output: [] });
    await app.api.start();
    await app.settle();
    expect(app.calls).toHaveLength(0);
    expect(await app.ledger.charges({ account: app.account }, 10)).toEqual([]);
  });

  it('stay as they are when they are cancelled after their end', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { output_text: _, ...ended } = await app.client.responses.create(QUESTION);
    const { output_text: __, ...after } = await app.client.responses.cancel(ended.id);
    expect(after).toEqual(ended);
  });

  it('cannot be continued before their end', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    const refused = await app.send('POST', '/responses', { ...QUESTION, previous_response_id: id });
    expect(refused.status).toBe(400);
    expect(await readError(refused)).toMatchObject({
      param: 'previous_response_id',
      message: expect.stringContaining('has not ended yet'),
    });
  });

  it('need a stored response', async () => {
    const app = await createOpenAIApp();
    const refused = await app.send('POST', '/responses', { ...BACKGROUND, store: false });
    expect([refused.status, (await readError(refused)).param]).toEqual([400, 'background']);
    expect(app.calls).toHaveLength(0);
  });

  it('are deleted while they run, and charged for what was produced', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    app.calls[0]?.say({ type: 'text', text: 'One two three' });
    await app.settle();
    await app.client.responses.delete(id);
    await app.calls[0]?.whenStopped;
    await app.settle();
    expect((await app.send('GET', `/responses/${id}`)).status).toBe(404);
    expect(await app.ledger.charges({ account: app.account }, 10)).toMatchObject([{ status: 'settled' }]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('report a failure of the model in the response', async () => {
    const app = await createOpenAIApp({ credits: 0 });
    const { id } = await app.client.responses.create(BACKGROUND);
    const failed = await untilEnded(app, id);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'insufficient_quota' } });
    expect(failed).not.toHaveProperty('usage');
    const events = await readEvents(await app.send('GET', `/responses/${id}?stream=true`));
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
      'response.failed',
      'error',
    ]);
  });
});
