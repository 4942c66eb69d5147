import type { ModelPart } from '@questline/core/ports';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { silent } from '../support/chat.ts';
import { createOpenAIApp, type OpenAIApp, readError, untilCalled } from './support.ts';
import { FUNCTIONS, QUESTION, readEvents } from './support-responses.ts';

const BODY = { ...QUESTION, background: true, tools: FUNCTIONS };

const PARTS: readonly ModelPart[] = [
  { type: 'thinking_delta', text: 'h' },
  { type: 'thinking_delta', text: 'm' },
  { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
  { type: 'text', text: 'Let ' },
  { type: 'text', text: 'me ' },
  { type: 'text', text: 'see.' },
  { type: 'tool_use', id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' },
  { type: 'usage', usage: { input: 20, output: 9 } },
  { type: 'finish', reason: 'tool_use' },
];

/** Sends parts to the model's reader, and the batch to the readers of the response. */
async function say(app: OpenAIApp, parts: readonly ModelPart[]): Promise<void> {
  for (const part of parts) app.calls[0]?.say(part);
  await app.settle();
  await app.clock.advance(200);
  await app.settle();
}

/** A response that has ended, and all of its events. */
async function createEnded() {
  const app = await createOpenAIApp({ onCall: silent });
  const { id } = await app.client.responses.create(BODY);
  await untilCalled(app);
  for (const part of PARTS) await say(app, [part]);
  app.calls[0]?.end();
  await app.settle();
  const read = async (query: string) =>
    readEvents(await app.send('GET', `/responses/${id}?stream=true${query}`));
  return { app, id, read, all: await read('') };
}

describe('a stream that broke off', () => {
  it('is continued after any event, during the response and after its end', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const leaving = new AbortController();
    const first = await app.client.responses.create({ ...BODY, stream: true }, { signal: leaving.signal });
    await untilCalled(app);
    await say(app, PARTS.slice(0, 4));
    const seen: ResponseStreamEvent[] = [];
    let id = '';
    for await (const event of first) {
      seen.push(event);
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') leaving.abort();
    }
    expect(seen.at(-1)).toMatchObject({ type: 'response.output_text.delta', delta: 'Let ' });
    const { sequence_number: after = -1 } = seen.at(-1) ?? {};
    const resumed = await app.client.responses.retrieve(id, { stream: true, starting_after: after });
    await say(app, PARTS.slice(4));
    app.calls[0]?.end();
    for (let count = 0; count < 5; count += 1) await app.settle();
    await app.clock.advance(2000);
    for await (const event of resumed) seen.push(event);
    expect(seen.map((event) => event.sequence_number)).toEqual(seen.map((_, index) => index));
    const all = await readEvents(await app.send('GET', `/responses/${id}?stream=true`));
    expect(seen).toEqual(all);
    expect(all.at(-1)).toMatchObject({ type: 'response.completed' });
    const deltas = all.filter(({ type }) => type === 'response.output_text.delta');
    expect(deltas).toMatchObject([{ delta: 'Let ' }, { delta: 'me ' }, { delta: 'see.' }]);
  });

  it('continues the same way from every event of a response that has ended', async () => {
    const { read, all } = await createEnded();
    for (const { sequence_number: after } of all) {
      expect(await read(`&starting_after=${after}`)).toEqual(all.slice(after + 1));
    }
  }, 30_000);

  it('continues the same way when the events have expired', async () => {
    const { app, id, read, all } = await createEnded();
    await app.services.eventLog.compact(id.slice('resp_'.length), 0);
    await app.services.eventLog.expire();
    expect(await read('')).toEqual(all);
    expect(await read('&starting_after=4')).toEqual(all.slice(5));
  });

  it('cannot be continued from an impossible event', async () => {
    const { app, id, all } = await createEnded();
    for (const query of [
      `stream=true&starting_after=${all.length}`,
      'stream=true&starting_after=-1',
      'stream=true&starting_after=1.5',
      'stream=true&starting_after=x',
      'stream=true&starting_after=',
      'stream=true&starting_after=99999999999999999999',
      'starting_after=1',
    ]) {
      const refused = await app.send('GET', `/responses/${id}?${query}`);
      expect([query, refused.status, (await readError(refused)).param]).toEqual([
        query,
        400,
        'starting_after',
      ]);
    }
    const wrong = await app.send('GET', `/responses/${id}?stream=yes`);
    expect([wrong.status, (await readError(wrong)).param]).toEqual([400, 'stream']);
  });
});
