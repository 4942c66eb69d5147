import { setImmediate as turn } from 'node:timers/promises';
import { createApi, createServices, toFetchHandler } from '@questline/core';
import { STORED_COMPLETIONS } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createGate } from '../support/gate.ts';
import { openFrames, readFrames } from '../support/live-events.ts';
import { createScriptedProvider } from '../support/model.ts';
import { begin, END, PATH, say } from './stored.ts';

describe('a stored completion', () => {
  it('fails with what arrived when the model breaks off, and at a shutdown', async () => {
    for (const breakOff of ['model', 'shutdown'] as const) {
      const { app, ask, follow, getCall, pass } = await begin();
      const asking = ask();
      await app.settle();
      getCall().say(say('Half'));
      const text = (await asking).text();
      await pass();
      if (breakOff === 'model') getCall().fail(new Error('broken'));
      else await app.api.drain(0);
      await pass();
      expect(await text).toContain('"type":"error"');
      const [snapshot, end] = await readFrames(await follow());
      expect(snapshot?.data).toMatchObject({ type: 'snapshot', text: 'Half' });
      expect(end?.data.state).toMatchObject({
        status: 'failed',
        text: 'Half',
        error: { message: expect.any(String) },
      });
    }
  });

  it('fails with what arrived when its process has stopped', async () => {
    const gate = createGate();
    const { app, ask, getCall, pass } = await begin({ store: gate.store, ledger: gate.ledger });
    const asking = ask();
    await app.settle();
    getCall().say(say('Half'));
    await (await asking).body?.cancel();
    await pass();
    gate.shut();
    const { clock } = app;
    const { limiter } = app.services;
    const other = createApi(
      createServices(
        { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [createScriptedProvider()] },
        { jwtSecret: 'a'.repeat(64) },
      ),
    );
    const handle = toFetchHandler(other);
    const headers = { Authorization: `Bearer ${app.key}`, 'Last-Event-ID': '1' };
    const follow = () => handle(new Request(`http://questline.test${PATH}/r-1/events`, { headers }));
    const response = await follow();
    if (response === undefined) throw new Error('no answer');
    const reader = openFrames(response);
    expect((await reader.next())?.data).toEqual(say('Half'));
    for (let left = 90_000; left > 0; left -= 1000) {
      await clock.advance(1000);
      await app.settle();
    }
    const end = {
      status: 'failed',
      text: 'Half',
      error: { message: 'The process that answered has stopped.' },
    };
    expect((await reader.next())?.data.state).toMatchObject(end);
    // The process that was away changes nothing.
    gate.open();
    getCall().say(say(' more'), ...END);
    getCall().end();
    await pass(15_000);
    const [, again] = await readFrames((await follow()) as Response);
    expect(again?.data.state).toMatchObject(end);
    await other.close();
  });

  it('does not wait for a client that reads slowly', async () => {
    const { app, ask, follow, getCall, pass } = await begin();
    const asking = ask();
    await app.settle();
    const text = 'x'.repeat(10_000);
    getCall().say(say('begin '));
    const response = await asking;
    for (let step = 0; step < 200; step += 1) getCall().say(say(text));
    getCall().say(...END);
    getCall().end();
    await turn();
    await pass();
    const [snapshot] = await readFrames(await follow());
    expect(snapshot?.data.text).toBe(`begin ${text.repeat(200)}`);
    // Its connection ends without the last frame: it resumes.
    expect(await response.text()).not.toContain('[DONE]');
  });

  it('shows that its process is alive every 15 seconds, until it ends', async () => {
    const { app, ask, getCall, pass } = await begin();
    const completions = app.services.store.collection(STORED_COMPLETIONS);
    const getBeat = async () => (await completions.find({}))[0]?.heartbeatAt;
    const asking = ask();
    await app.settle();
    getCall().say(say('Half'));
    const answer = (await asking).text();
    const start = await getBeat();
    for (let beat = 1; beat <= 3; beat += 1) {
      await pass(15_000);
      expect(await getBeat()).toBe((start ?? 0) + beat * 15_000);
    }
    getCall().say(...END);
    getCall().end();
    await answer;
    const last = await getBeat();
    await pass(60_000);
    expect(await getBeat()).toBe(last);
  });

  it('stops its model when it is deleted with its owner', async () => {
    const { app, ask, getCall, pass } = await begin();
    const completions = app.services.store.collection(STORED_COMPLETIONS);
    const asking = ask();
    await app.settle();
    getCall().say(say('Half'));
    const answer = (await asking).text();
    const [record] = await completions.find({});
    await completions.take(record?.id ?? '');
    expect(getCall().stopped).toBe(false);
    await pass(15_000);
    expect(getCall().stopped).toBe(true);
    expect(await answer).not.toContain('[DONE]');
    expect(await completions.count({})).toBe(0);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it.each([
    ['a heartbeat', 15_000],
    ['its end', 0],
  ])('reports that %s cannot be stored, and answers its client', async (_title, ms) => {
    const away = new Error('away');
    let isAway = false;
    const store = (memory: Store): Store => ({
      ...memory,
      collection(definition) {
        const records = memory.collection(definition);
        if (definition.name !== STORED_COMPLETIONS.name) return records;
        return {
          ...records,
          update: (...given) => (isAway ? Promise.reject(away) : records.update(...given)),
        };
      },
    });
    const { app, ask, getCall, pass } = await begin({ store });
    const asking = ask();
    await app.settle();
    getCall().say(say('Half'));
    const answer = (await asking).text();
    isAway = true;
    await pass(ms);
    if (ms > 0) isAway = false;
    getCall().say(...END);
    getCall().end();
    expect(await answer).toContain('[DONE]');
    await pass();
    expect(app.incidents).toEqual([{ operation: 'createCompletion', requestId: 'r-1', error: away }]);
    const [record] = await app.services.store.collection(STORED_COMPLETIONS).find({});
    expect(record?.status).toBe(ms > 0 ? 'done' : 'running');
  });
});
