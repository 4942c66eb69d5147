import { complete, follow } from '@questline/client';
import { getCompletionEvents } from '@questline/client/operations';
import type { ModelPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createAppClient } from '../../packages/client/test/support.ts';
import { createFollower, openFrames, readFrames } from '../support/live-events.ts';
import { createScriptedProvider, getEvents, type ModelCall } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';
import { BODY, begin, END, PATH, say } from './stored.ts';

describe('a stored completion', () => {
  it('goes on after its client has disconnected, is resumed by its request id and is charged once', async () => {
    const { app, provider, ask, follow, getCall, pass } = await begin();
    const asking = ask();
    await app.settle();
    getCall().say(say('Once '));
    const first = (await asking).body?.getReader();
    await first?.read();
    await first?.cancel();
    await pass();
    getCall().say(say('upon '));
    await pass();
    const reader = openFrames(await follow());
    expect((await reader.next())?.data).toMatchObject({
      type: 'snapshot',
      text: 'Once upon ',
      state: {
        ...{ requestId: 'r-1', status: 'running', model: 'scripted', text: null },
        createdAt: new Date(NOW).toISOString(),
      },
    });
    getCall().say(say('a time'), ...END);
    getCall().end();
    await pass();
    expect((await reader.next())?.data).toEqual(say('a time'));
    const end = await reader.next();
    expect(end).toMatchObject({
      id: 'end',
      data: {
        type: 'end',
        state: {
          status: 'done',
          text: 'Once upon a time',
          usage: { inputTokens: 5, outputTokens: 9 },
          credits: { used: 0.14, usdCost: 0.0014 },
          stopReason: 'stop',
        },
      },
    });
    expect(provider.calls).toHaveLength(1);
    const entries = await app.services.ledger.entries(app.account, { limit: 100 });
    expect(entries.filter(({ kind }) => kind === 'charge')).toHaveLength(1);
    expect((await app.services.ledger.balance(app.account)).held).toBe(0);
    expect(app.incidents).toEqual([]);
  });

  it('sends its client the same events as any other one', async () => {
    const chunks: ModelPart[] = [
      { type: 'thinking_delta', text: 'A die.' },
      { type: 'thinking', block: { type: 'thinking', thinking: 'A die.', signature: 's' } },
      say('Rolling.'),
      { type: 'tool_use_delta', index: 0, id: 't', name: 'dice', arguments: '{' },
      { type: 'tool_use_delta', index: 0, arguments: '}' },
      { type: 'tool_use', id: 't', name: 'dice', arguments: '{}' },
      ...END,
    ];
    const onCall = (call: ModelCall) => {
      call.say(...chunks);
      call.end();
    };
    const { app, follow, pass } = await begin({ models: [createScriptedProvider(onCall)] });
    const headers = { 'X-Request-ID': 'r-1' };
    const plain = await app.ask('POST', PATH, { body: { ...BODY, store: false }, headers });
    const stored = await app.ask('POST', PATH, { body: BODY, headers });
    const text = await stored.text();
    expect(text).toBe(await plain.text());
    expect(getEvents(text)).toContainEqual({ type: 'reasoning', text: 'A die.' });
    await pass();
    const frames = await readFrames(await follow('r-1', { headers: { 'Last-Event-ID': '0' } }));
    expect(frames.map(({ data }) => data.type)).toEqual([
      'step',
      'reasoning',
      'text',
      'tool-start',
      'tool-delta',
      'end',
    ]);
    expect(frames.at(-1)?.data.state).toMatchObject({
      tools: [{ id: 't', name: 'dice', arguments: '{}' }],
      thinking: [{ type: 'thinking', thinking: 'A die.', signature: 's' }],
    });
  });

  it('is followed over broken connections without a loss or repetition', async () => {
    const { ask, follow, getCall, pass, app } = await begin();
    const asking = ask();
    await app.settle();
    const follower = createFollower();
    getCall().say(say('0 '));
    void (await asking).text();
    for (let step = 1; step <= 10; step += 1) {
      getCall().say(say(`${step} `));
      await pass();
      const headers = follower.lastId === undefined ? {} : { 'Last-Event-ID': follower.lastId };
      const [frame] = await readFrames(await follow('r-1', { headers }), 1);
      if (frame !== undefined) follower.apply(frame);
    }
    getCall().say(...END);
    getCall().end();
    await pass();
    const headers = { 'Last-Event-ID': follower.lastId ?? '' };
    for (const frame of await readFrames(await follow('r-1', { headers }))) follower.apply(frame);
    expect(follower.text).toBe('0 1 2 3 4 5 6 7 8 9 10 ');
    expect([follower.snapshots, follower.end?.status]).toEqual([1, 'done']);
    expect(new Set(follower.ids).size).toBe(follower.ids.length);
    expect((await follow('r-1', { headers: { 'Last-Event-ID': 'end' } })).status).toBe(204);
  });

  it('is followed by the client after the loop over its frames has been left', async () => {
    const onCall = (call: ModelCall) => {
      call.say(say('Once '), say('upon a time'), ...END);
      call.end();
    };
    const { app, pass } = await begin({ models: [createScriptedProvider(onCall)] });
    const client = createAppClient(app, { headers: { 'X-Request-ID': 'r-1' } });
    for await (const { type } of complete(client, {
      ...BODY,
      messages: [{ role: 'user', content: 'Write' }],
    }))
      if (type === 'content') break;
    await pass();
    const events: { readonly type: string; readonly text?: string }[] = [];
    const input = { params: { requestId: 'r-1' } };
    for await (const event of follow(client, getCompletionEvents, input)) events.push(event);
    expect(events).toMatchObject([
      { type: 'snapshot', text: 'Once upon a time' },
      { type: 'end', state: { status: 'done', text: 'Once upon a time' } },
    ]);
  });

  it('belongs to its caller, who uses a request id once', async () => {
    const { app, provider, ask, follow, getCall, pass } = await begin();
    const asking = ask();
    await app.settle();
    getCall().say(say('Mine'), ...END);
    getCall().end();
    await (await asking).text();
    await pass();
    const again = await ask();
    expect([again.status, provider.calls.length]).toEqual([409, 1]);
    const credential = await app.token(await app.addUser('eve@example.com'));
    expect((await follow('r-1', { credential })).status).toBe(404);
    expect((await follow('unknown')).status).toBe(404);
    expect((await follow('r-1', { headers: { 'Last-Event-ID': 'x' } })).status).toBe(422);
    await app.clock.advance(24 * 3_600_000);
    expect((await follow('r-1')).status).toBe(404);
  });

  it('is not stored when it is refused or fails before its first output, and may be requested again', async () => {
    let isBroken = true;
    const onCall = (call: ModelCall) => {
      if (isBroken) return call.fail(new Error('broken'));
      call.say(say('Hello'), ...END);
      return call.end();
    };
    const { app, follow } = await begin({ models: [createScriptedProvider(onCall)] });
    const headers = { 'X-Request-ID': 'r-1' };
    expect((await app.ask('POST', PATH, { body: BODY, headers })).status).toBe(500);
    expect((await follow()).status).toBe(404);
    isBroken = false;
    expect(await (await app.ask('POST', PATH, { body: BODY, headers })).text()).toContain('Hello');
    expect((await follow()).status).toBe(200);
  });

  it('is not stored without the option', async () => {
    const { app, ask, follow, getCall } = await begin();
    const asking = ask('r-1', { body: { ...BODY, store: undefined } });
    await app.settle();
    getCall().say(say('Gone'), ...END);
    getCall().end();
    await (await asking).text();
    expect((await follow()).status).toBe(404);
  });
});
