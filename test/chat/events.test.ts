import { createMemoryEventLog } from '@questline/core/memory';
import { type EventLog, StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { createLatePublisher } from '../support/late-publisher.ts';
import {
  createFollower,
  createFrameParser,
  type LiveEvent,
  openFrames,
  readFrames,
} from '../support/live-events.ts';
import { beginChat, beginInTwoProcesses, END, pass, say } from '../support/running-chat.ts';

/** Opens a reader that stays: without one, events wait. */
async function stay({ follow }: Pick<Awaited<ReturnType<typeof beginChat>>, 'follow'>): Promise<void> {
  await openFrames(await follow()).next();
}

describe('events of a chat turn', () => {
  it('begin with a snapshot, go on with each event and end with the result', async () => {
    const { app, call, follow, id } = await beginChat();
    call.say(say('Once '), say('upon '));
    await pass(app);
    const reader = openFrames(await follow());
    const first = await reader.next();
    expect(first).toMatchObject({
      id: '2',
      data: { type: 'snapshot', text: 'Once upon ', iteration: 1, state: { id, status: 'running' } },
    });
    call.say(say('a '), say('time'));
    await pass(app);
    expect(await reader.next()).toEqual({ id: '3', data: { type: 'text', text: 'a time' } });
    call.say(END);
    call.end();
    await app.settle();
    expect(await reader.next()).toMatchObject({
      id: '4',
      data: { type: 'usage', model: 'scripted', usage: { inputTokens: 10, outputTokens: 3 } },
    });
    const end = await reader.next();
    expect(end).toEqual({ id: 'end', data: { type: 'end', state: await app.poll(id) } });
    expect(end?.data.state).toMatchObject({ status: 'done', reply: 'Once upon a time' });
    expect(await reader.next()).toBeUndefined();
    expect(app.incidents).toEqual([]);
  });

  it('give the exact text to a reader who comes after the text was saved and before its events were read', async () => {
    let mayRead = Promise.resolve();
    let read = (): void => undefined;
    const log = createMemoryEventLog({ clock: { now: () => 0, timer: () => () => undefined } });
    const eventLog: EventLog = {
      ...log,
      async read(...args) {
        await mayRead;
        return log.read(...args);
      },
    };
    const { app, id, call, follow } = await beginChat({ eventLog });
    const reading = [readFrames(await follow())];
    await app.settle();
    mayRead = new Promise((resolve) => {
      read = resolve;
    });
    call.say(say('Once '));
    await pass(app, 600);
    expect(await app.poll(id)).toMatchObject({ replies: ['Once '] });
    reading.push(readFrames(await follow()));
    await app.settle();
    read();
    call.say(say('more'), END);
    call.end();
    await pass(app);
    await pass(app);
    for (const frames of await Promise.all(reading)) {
      const follower = createFollower();
      for (const frame of frames) follower.apply(frame);
      expect(follower.text).toBe('Once more');
    }
  });

  it.each(['the whole subscription', 'a later part of it'])(
    'include, without a poll, what was added during %s',
    async (name) => {
      let isFollowing = false;
      const isLate = (topic: string) =>
        isFollowing && (name === 'the whole subscription' || topic.startsWith('events.'));
      const publisher = createLatePublisher(isLate);
      const { app, call, follow } = await beginChat({ publisher });
      // Its write is due between the first look of the reader, which follows, and the second one.
      call.say(say('Once '));
      await pass(app, 60);
      isFollowing = true;
      const follower = createFollower();
      const reader = openFrames(await follow());
      const reading = (async () => {
        for (let frame = await reader.next(); frame !== undefined; frame = await reader.next()) {
          follower.apply(frame);
        }
      })();
      await pass(app, 60);
      publisher.activate();
      await app.settle();
      expect(follower.text).toBe('Once ');
      call.say(END);
      call.end();
      await pass(app);
      await reading;
      expect(follower.text).toBe('Once ');
    },
  );

  it('contain reasoning, tool calls and payloads', async () => {
    const { app, call, follow } = await beginChat({}, { message: 'Roll', tools: ['dice_roll'] });
    call.say(
      { type: 'thinking_delta', text: 'A die ' },
      { type: 'thinking_delta', text: 'it is.' },
      { type: 'tool_use_delta', index: 0, id: 'a', name: 'dice_roll', arguments: '{"si' },
      { type: 'tool_use_delta', index: 0, arguments: 'des":6}' },
      { type: 'tool_use', id: 'a', name: 'dice_roll', arguments: '{"sides":6}' },
      END,
    );
    call.end();
    await app.settle();
    app.calls[1]?.say(say('Four.'), END);
    app.calls[1]?.end();
    await app.settle();
    const frames = await readFrames(await follow({ headers: { 'Last-Event-ID': '0' } }));
    const events = frames.map(({ data }) => data);
    expect(frames.slice(0, -1).map(({ id }) => id)).toEqual(events.slice(1).map((_, at) => String(at + 1)));
    expect(events.filter(({ type }) => type !== 'payload' && type !== 'usage')).toEqual([
      { type: 'step', iteration: 1 },
      { type: 'reasoning', text: 'A die it is.' },
      { type: 'tool-start', id: '1.0', name: 'dice_roll' },
      { type: 'tool-delta', id: '1.0', text: '{"sides":6}' },
      { type: 'tool-result', id: '1.0', name: 'dice_roll', isError: false },
      { type: 'step', iteration: 2 },
      say('Four.'),
      expect.objectContaining({ type: 'end' }),
    ]);
    const [snapshot] = await readFrames(await follow());
    expect(snapshot?.data).toMatchObject({
      type: 'snapshot',
      text: 'Four.',
      reasoning: 'A die it is.',
      iteration: 2,
      tools: [{ id: '1.0', name: 'dice_roll', arguments: '{"sides":6}', isError: false }],
    });
  });

  it('continue after the last frame of a reader, by header or query', async () => {
    const { app, call, path, follow } = await beginChat();
    await stay({ follow });
    for (const word of ['a', 'b', 'c', 'd']) {
      call.say(say(word));
      await pass(app);
    }
    call.say(END);
    call.end();
    await app.settle();
    const all = (await readFrames(await follow({ headers: { 'Last-Event-ID': '0' } }))).map(({ id }) => id);
    expect(all).toEqual(['1', '2', '3', '4', '5', '6', 'end']);
    for (const [at, id] of all.slice(0, -1).entries()) {
      const byHeader = await readFrames(await follow({ headers: { 'Last-Event-ID': id } }));
      expect(byHeader.map((frame) => frame.id)).toEqual(all.slice(at + 1));
      const byQuery = await readFrames(await app.ask('GET', `${path}?after=${id}`));
      expect(byQuery).toEqual(byHeader);
      // A browser repeats the address and adds the header.
      const both = await readFrames(
        await app.ask('GET', `${path}?after=1`, { headers: { 'Last-Event-ID': id } }),
      );
      expect(both).toEqual(byHeader);
    }
    const done = await follow({ headers: { 'Last-Event-ID': 'end' } });
    expect([done.status, await done.text()]).toEqual([204, '']);
  });

  it('begin with a snapshot for a position from the future, of another quest or after expiry', async () => {
    const { app, call, follow } = await beginChat();
    call.say(say('Hello'));
    await pass(app);
    for (const id of ['99', '999999999999999', 'end']) {
      const [first] = await readFrames(await follow({ headers: { 'Last-Event-ID': id } }), 1);
      expect(first).toMatchObject({ id: '2', data: { type: 'snapshot', text: 'Hello' } });
    }
    call.say(END);
    call.end();
    await app.settle();
    await pass(app, 10 * 60_000);
    const kept = await readFrames(await follow({ headers: { 'Last-Event-ID': '1' } }));
    expect(kept.map(({ id }) => id)).toEqual(['2', '3', 'end']);
    await pass(app, 3_600_000);
    for (const headers of [{}, { 'Last-Event-ID': '1' }]) {
      const frames = await readFrames(await follow({ headers }));
      expect(frames.map(({ data }) => [data.type, data.text])).toEqual([
        ['snapshot', 'Hello'],
        ['end', undefined],
      ]);
    }
  });

  it('contain nothing of another quest, whatever the position says', async () => {
    const { app, call } = await beginChat();
    call.say(say('Secret of the first. '));
    await pass(app);
    const { id } = (await app.chat({ message: 'Hi', newConversation: true })).body;
    await app.settle();
    app.calls[1]?.say(say('Second.'), END);
    app.calls[1]?.end();
    await app.settle();
    for (const position of ['0', '1', '2', '3', '4', '99']) {
      const headers = { 'Last-Event-ID': position };
      const frames = await readFrames(await app.ask('GET', `/api/v1/quests/${id}/events`, { headers }));
      expect(JSON.stringify(frames)).not.toContain('first');
      expect(frames.at(-1)).toMatchObject({ id: 'end', data: { state: { reply: 'Second.' } } });
    }
  });

  it.each(['-1', '1.5', 'x', '1e3', '1234567890123456', 'END', '../1'])(
    'reject the position %s',
    async (id) => {
      const { path, follow, app } = await beginChat();
      const byHeader = await follow({ headers: { 'Last-Event-ID': id } });
      const byQuery = await app.ask('GET', `${path}?after=${encodeURIComponent(id)}`);
      expect([byHeader.status, byQuery.status]).toEqual([422, 422]);
    },
  );

  it('are 404 for strangers', async () => {
    const { app, path } = await beginChat();
    const credential = await app.token(await app.addUser('eve@example.com'));
    expect((await app.ask('GET', path, { credential })).status).toBe(404);
    expect((await app.ask('GET', `/api/v1/quests/${'0'.repeat(24)}/events`)).status).toBe(404);
  });

  it('end when the turn is cancelled, and when its session is deleted', async () => {
    const { app, id, call, follow } = await beginChat();
    call.say(say('Half an '));
    await pass(app);
    const reader = openFrames(await follow());
    expect((await reader.next())?.data.text).toBe('Half an ');
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    const rest = [await reader.next(), await reader.next()];
    expect(rest.at(-1) ?? rest[0]).toMatchObject({ id: 'end', data: { state: { status: 'stopped' } } });

    const second = await beginChat();
    const following = openFrames(await second.follow());
    await following.next();
    const { sessionId } = await second.app.poll(second.id);
    await second.app.json('DELETE', `/api/sessions/${String(sessionId)}`);
    await second.app.settle();
    await second.app.clock.advance(5000);
    await second.app.settle();
    await second.app.clock.advance(20_000);
    for (let frame = await following.next(); frame !== undefined; frame = await following.next());
    expect((await second.follow()).status).toBe(404);
  });

  it('send a comment in silence, and stop at shutdown without an end', async () => {
    const { app, follow } = await beginChat();
    const response = await follow();
    const text = response.text();
    await app.settle();
    for (let count = 0; count < 3; count += 1) await pass(app, 15_000);
    await app.api.drain(0);
    const sent = await text;
    expect(sent.match(/^: keep-alive$/gm)?.length).toBeGreaterThanOrEqual(3);
    expect(sent).toContain('"type":"snapshot"');
    expect(sent).not.toContain('"type":"end"');
  });

  it('wait for a reader that stalls, which holds one write and then reads the log', async () => {
    const count = { appends: 0, reads: 0, compactions: 0 };
    const { app, call, path } = await beginChat({
      services: (services) => ({ ...services, eventLog: counted(services.eventLog, count) }),
    });
    call.say(say('begin '));
    await pass(app);
    const headers = { authorization: `Bearer ${app.key}`, 'last-event-id': '0' };
    const answer = await app.api.handle({
      method: 'GET',
      path,
      mountPath: '',
      query: '',
      headers,
      body: { bytes: async () => new Uint8Array(), stream: async function* () {} },
      signal: new AbortController().signal,
      remoteAddress: undefined,
      protocol: 'http',
    });
    const body = answer?.body as AsyncIterable<string> | undefined;
    const frames = body?.[Symbol.asyncIterator]();
    if (frames === undefined) throw new Error('no stream');
    await frames.next();
    const text = 'x'.repeat(100_000);
    for (let step = 0; step < 40; step += 1) {
      call.say(say(text));
      await pass(app);
    }
    call.say(END);
    call.end();
    await app.settle();
    const parse = createFrameParser();
    const follower = createFollower();
    const ids: string[] = [];
    let largest = 0;
    for (let step = await frames.next(); step.done !== true; step = await frames.next()) {
      if (follower.end === undefined && !step.value.includes('"type":"end"'))
        largest = Math.max(largest, step.value.length);
      for (const frame of parse(step.value)) {
        follower.apply(frame);
        ids.push(frame.id);
      }
    }
    expect(follower.text).toBe(`begin ${text.repeat(40)}`);
    expect(follower.snapshots).toBe(0);
    expect(ids).toEqual([...ids.slice(0, -1).map((_, at) => String(at + 1)), 'end']);
    expect(largest).toBeLessThan(200_000);
  });

  it('are written at most 20 times a second for any number of tokens, and joined at the end', async () => {
    const count = { appends: 0, compactions: 0 };
    const { app, call, follow } = await beginChat({
      services: (services) => ({ ...services, eventLog: counted(services.eventLog, count) }),
    });
    await stay({ follow });
    for (let step = 0; step < 1000; step += 1) {
      call.say(say(`${step} `));
      await app.settle();
      await app.clock.advance(1);
    }
    await app.settle();
    expect(count.appends).toBeGreaterThan(5);
    expect(count.appends).toBeLessThanOrEqual(20);
    call.say(END);
    call.end();
    await app.settle();
    expect(count.compactions).toBe(1);
    const follower = createFollower();
    for (const frame of await readFrames(await follow({ headers: { 'Last-Event-ID': '0' } }))) {
      follower.apply(frame);
    }
    expect(follower.text).toBe(Array.from({ length: 1000 }, (_, step) => `${step} `).join(''));
  });

  it('cost one write for a short answer, none for its acknowledgement and none for a poll', async () => {
    const count = { appends: 0, reads: 0, compactions: 0 };
    const app = await createChatApp({
      services: (services) => ({ ...services, eventLog: counted(services.eventLog, count) }),
      started: false,
    });
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.poll(id);
    expect(count).toEqual({ appends: 0, reads: 0, compactions: 0 });
    await app.api.start();
    await app.settle();
    await app.poll(id);
    expect(count).toEqual({ appends: 1, reads: 0, compactions: 0 });
  });
});

describe('event log that fails', () => {
  it('fails no turn, and readers get the complete text at the end', async () => {
    const log = createMemoryEventLog({ clock: { now: () => 0, timer: () => () => undefined } });
    let isAway = false;
    const failing: EventLog = {
      ...log,
      append: (stream, batch) =>
        isAway ? Promise.reject(new StorageUnavailable('away')) : log.append(stream, batch),
    };
    const { app, id, call, follow } = await beginChat({
      services: (services) => ({ ...services, eventLog: failing }),
    });
    await stay({ follow });
    call.say(say('One '));
    await pass(app);
    isAway = true;
    call.say(say('two '));
    await pass(app);
    isAway = false;
    call.say(say('three '));
    await pass(app);
    isAway = true;
    call.say(say('four'), END);
    call.end();
    await app.settle();
    expect(await app.poll(id)).toMatchObject({ status: 'done', reply: 'One two three four' });
    const stored = (await log.read(id, 0)) ?? [];
    expect(stored.map(({ event }) => event)).toEqual([
      { type: 'step', iteration: 1 },
      say('One '),
      say('two '),
      say('three '),
    ]);
    const frames = await readFrames(await follow());
    expect(frames[0]?.data).toMatchObject({ type: 'snapshot', text: 'One two three four' });
  });

  it('adds no event twice when the answer of a write is lost', async () => {
    let isLosing = false;
    const { app, id, call } = await beginChat({
      services: (services) => ({
        ...services,
        eventLog: {
          ...services.eventLog,
          async append(stream, batch) {
            const result = await services.eventLog.append(stream, batch);
            if (isLosing) throw new StorageUnavailable('no answer');
            return result;
          },
        },
      }),
    });
    isLosing = true;
    call.say(say('One '));
    await pass(app);
    call.say(say('two '));
    await pass(app);
    isLosing = false;
    call.say(say('three'), END);
    call.end();
    await app.settle();
    const stored = (await app.services.eventLog.read(id, 0)) ?? [];
    const text = stored.map(({ event }) => (event as { text?: string }).text ?? '').join('');
    expect(text).toBe('One two three');
  });
});

describe('worker that crashes', () => {
  it('is followed by the next attempt behind a reset, and its late events are refused', async () => {
    const { app, id, call, gate, model, takeOver, close, follow } = await beginInTwoProcesses();
    await stay({ follow });
    // Sent to readers, and not yet saved in the quest.
    call.say(say('Lost '));
    await pass(app);
    await takeOver();
    model.calls[0]?.say(say('Second'), END);
    await pass(app);
    call.say(say('late'));
    await pass(app);
    gate.open();
    model.calls[0]?.end();
    await pass(app);
    await pass(app, 1000);
    const events = ((await app.services.eventLog.read(id, 0)) ?? []).map(({ event }) => event);
    const follower = createFollower();
    for (const [at, data] of events.entries())
      follower.apply({ id: String(at + 1), data: data as unknown as LiveEvent });
    expect(follower.resets).toBe(1);
    expect(follower.text).toBe((await app.poll(id)).reply);
    expect(JSON.stringify(events)).not.toContain('late');
    await close();
  });

  it('leaves readers with the text that it saved', async () => {
    const { app, id, call, gate, model, takeOver, close, follow } = await beginInTwoProcesses();
    call.say(say('Saved '));
    await pass(app, 600);
    call.say(say('and lost'));
    await pass(app);
    await takeOver();
    gate.open();
    await pass(app, 1000);
    expect(model.calls).toHaveLength(0);
    const quest = await app.poll(id);
    const follower = createFollower();
    for (const frame of await readFrames(await follow({ headers: { 'Last-Event-ID': '0' } }))) {
      follower.apply(frame);
    }
    expect(quest).toMatchObject({ status: 'done', replies: ['Saved '] });
    expect([follower.text, follower.resets, follower.snapshots]).toEqual(['Saved ', 1, 0]);
    await close();
  });
});

function counted(log: EventLog, count: { appends: number; reads?: number; compactions: number }): EventLog {
  return {
    ...log,
    append: (...args) => {
      count.appends += 1;
      return log.append(...args);
    },
    read: (...args) => {
      if (count.reads !== undefined) count.reads += 1;
      return log.read(...args);
    },
    compact: (...args) => {
      count.compactions += 1;
      return log.compact(...args);
    },
  };
}
