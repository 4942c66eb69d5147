import { createMemoryPublisher } from '@questline/core/memory';
import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createFollower, openFrames, readFrames } from '../support/live-events.ts';
import {
  attach,
  beginChat,
  beginInTwoProcesses,
  END,
  pass,
  say,
  speak,
  WORD,
} from '../support/running-chat.ts';

describe('readers of a running quest', () => {
  it('cause all writes of its events, and get each event once, however they come and go', async () => {
    const random = createRandom(3);
    for (let round = 0; round < 8; round += 1) {
      const count = { appends: 0 };
      const begun = await beginChat({
        services: (services) => ({
          ...services,
          eventLog: {
            ...services.eventLog,
            append(...args) {
              count.appends += 1;
              return services.eventLog.append(...args);
            },
          },
        }),
      });
      const { app, call, follow } = begun;
      const follower = createFollower();
      let said = '';
      for (let step = 0; step < 20; step += 1) {
        const isFollowed = random.chance(0.5);
        const control = new AbortController();
        const { lastId } = follower;
        const headers: Record<string, string> = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
        const reading = isFollowed
          ? follow({ headers, signal: control.signal }).then(async (response: Response) => {
              const frames = openFrames(response);
              try {
                for (let one = await frames.next(); one !== undefined; one = await frames.next()) {
                  follower.apply(one);
                }
              } catch {
                // Disconnected.
              }
            })
          : undefined;
        await pass(app, 0);
        const before = count.appends;
        for (let part = random.below(30); part >= 0; part -= 1) {
          const text = `${step}.${part} `;
          said += text;
          if (random.chance(0.3)) call.say({ type: 'thinking_delta', text: 'hm' });
          call.say(say(text));
          await pass(app);
        }
        if (!isFollowed) expect(count.appends).toBe(before);
        control.abort();
        await app.settle();
        await reading;
      }
      call.say(END);
      call.end();
      await app.settle();
      const { lastId } = follower;
      const headers: Record<string, string> = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
      const { reading, follower: last } = await attach(await follow({ headers }));
      await pass(app);
      await reading;
      const late = await attach(await follow({ headers: { 'Last-Event-ID': '0' } }));
      await pass(app);
      await late.reading;
      expect(late.follower.text).toBe(said);
      expect(late.follower.ids.slice(0, -1)).toEqual(
        late.follower.ids.slice(1).map((_, at) => String(at + 1)),
      );
      const seen = follower.snapshots > 0 ? follower.text + last.text : last.text;
      expect(seen).toBe(said);
      const ids = [...follower.ids, ...last.ids];
      expect(new Set(ids).size).toBe(ids.length);
      await app.api.close();
    }
  });

  it.each([
    ['at once with a shared publisher', true, 200],
    ['within 2 seconds without one', false, 2000],
  ])('in another process get news %s', async (_name, isShared, withinMs) => {
    const publisher = isShared ? createMemoryPublisher() : undefined;
    const begun = await beginInTwoProcesses(publisher);
    const { app, call, followOther, close } = begun;
    await speak(begun, 20);
    const [first] = await Promise.all([readFrames(await followOther(), 1), pass(app, 0)]);
    expect(first).toMatchObject([
      { data: { type: 'snapshot', text: expect.stringMatching(/^\w{1500,2000}$/) } },
    ]);
    const again = await followOther({ 'Last-Event-ID': first[0]?.id ?? '' });
    const { follower, reading } = await attach(again, first);
    let waited = 0;
    while (follower.ids.length === 0 && waited < 20_000) {
      call.say(say(WORD));
      await pass(app);
      waited += 100;
    }
    expect(waited).toBeLessThanOrEqual(withinMs);
    // From now on, they get all news at once, for as long as they stay.
    for (let second = 0; second < 60; second += 1) {
      await speak(begun, 1);
      await pass(app, 100);
      await pass(app, 1000);
      expect(follower.text).toBe((await app.poll(begun.id)).reply);
    }
    call.say(END);
    call.end();
    await pass(app);
    await pass(app, 2000);
    await reading;
    expect(follower.text).toBe((await app.poll(begun.id)).reply);
    expect(follower.resets).toBe(0);
    await close();
  });

  it('in another process get news while the model only reasons', async () => {
    const begun = await beginInTwoProcesses();
    const { app, call, followOther, close } = begun;
    const { follower } = await attach(await followOther());
    for (let part = 0; part < 60; part += 1) {
      call.say({ type: 'thinking_delta', text: 'hm ' });
      await pass(app);
    }
    expect(follower.reasoning.length).toBeGreaterThan(0);
    await close();
  });
});
