import { QUEST_TEXTS, QUESTS } from '@questline/core/internal';
import { createMemoryPublisher } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import {
  attach,
  beginChat,
  beginInTwoProcesses,
  countPieces,
  END,
  pass,
  say,
  speak,
  WORD,
} from '../support/running-chat.ts';

/** Characters of a token, as interrupted answers are estimated. */
const PER_TOKEN = 2.5;

describe('text of a running quest', () => {
  it('is polled at once in the process of its worker, and after at most 5 seconds in another one', async () => {
    const begun = await beginInTwoProcesses();
    const { app, id, pollOther, close } = begun;
    for (let second = 1; second <= 30; second += 1) {
      await speak(begun, 1);
      const said = WORD.repeat(second * 10);
      expect((await app.poll(id)).reply).toBe(said);
      const late = String((await pollOther()).reply);
      expect(said.startsWith(late)).toBe(true);
      expect(said.length - late.length).toBeLessThanOrEqual(5 * 10 * WORD.length);
    }
    expect(await countPieces(begun)).toBeGreaterThan(5);
    await close();
  });

  it('is stored each half second while a reader follows', async () => {
    const begun = await beginInTwoProcesses();
    const { follow, pollOther, close } = begun;
    await speak(begun, 10);
    await attach(await follow());
    for (let second = 11; second <= 70; second += 1) {
      await speak(begun, 1);
      const late = String((await pollOther()).reply);
      expect(second * 10 * WORD.length - late.length).toBeLessThanOrEqual(5 * WORD.length);
    }
    // They are moved into the record before they are too many to read.
    expect(await countPieces(begun)).toBeLessThan(110);
    await close();
  });

  it('is lost by a crash for at most 5 seconds, and what is stored is the answer, is charged and is reported', async () => {
    for (const seconds of [1, 3, 7, 16, 31]) {
      const begun = await beginInTwoProcesses();
      const { app, id, gate, model, takeOver, close } = begun;
      await speak(begun, seconds);
      await takeOver();
      gate.open();
      await pass(app, 1000);
      expect(model.calls).toHaveLength(0);
      const quest = await app.services.store.collection(QUESTS).get(id);
      const stored = quest?.text ?? '';
      expect(WORD.repeat(seconds * 10).startsWith(stored)).toBe(true);
      expect(stored.length).toBeGreaterThanOrEqual(Math.max(seconds - 5, seconds / 2) * 10 * WORD.length);
      const [charge] = await app.ledger.charges({ account: app.account }, 10);
      expect(charge?.usage?.output).toBe(stored.length / PER_TOKEN);
      expect((charge?.amount ?? 0) / 1e6).toBe(quest?.promptMeta?.credits);
      expect(quest).toMatchObject({ status: 'done', type: 'message' });
      expect((await app.ledger.balance(app.account)).held).toBe(0);
      expect(await countPieces(begun)).toBe(0);
      await close();
    }
  });

  it('keeps nothing of a worker that lost its lease', async () => {
    const begun = await beginInTwoProcesses();
    const { app, id, call, gate, takeOver, close } = begun;
    const quests = gate.shared.store.collection(QUESTS);
    const texts = gate.shared.store.collection(QUEST_TEXTS);
    await speak(begun, 12);
    call.say(say('late'));
    // Its next write is under way while the other worker ends the quest.
    await takeOver();
    const ended = await quests.get(id);
    expect(ended).toMatchObject({ status: 'done', type: 'message' });
    gate.open();
    await app.settle();
    call.say(say('later'), END);
    call.end();
    await pass(app, 5000);
    expect(await quests.get(id)).toEqual(ended);
    expect(await texts.count({})).toBe(0);
    await close();
  });

  it('is complete after a cancel, in the quest and in its session', async () => {
    const begun = await beginChat();
    const { app, id, follow } = begun;
    await speak(begun, 12);
    const { body } = await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    const said = WORD.repeat(120);
    expect(body.replies).toEqual([said]);
    expect((await app.poll(id)).replies).toEqual([said]);
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge?.usage?.output).toBe(said.length / PER_TOKEN);
    const { data } = (await app.json('GET', `/api/v1/sessions/${body.sessionId}/messages`)).body;
    expect(JSON.stringify(data)).toContain(said);
    expect(await countPieces(begun)).toBe(0);
    const { follower, reading } = await attach(await follow({ headers: { 'Last-Event-ID': '0' } }));
    await pass(app);
    await reading;
    expect([follower.text, follower.snapshots]).toEqual([said, 0]);
  });

  it.each([
    ['at once with a shared publisher', true, 100],
    ['within a second without one', false, 1100],
  ])('ends after a cancel at another process %s', async (_name, isShared, withinMs) => {
    const publisher = isShared ? createMemoryPublisher() : undefined;
    const begun = await beginInTwoProcesses(publisher);
    const { app, call, id, cancelOther, close } = begun;
    await speak(begun, 20);
    await cancelOther();
    let waited = 0;
    for (; !call.stopped && waited < 10_000; waited += 100) {
      call.say(say(WORD));
      await pass(app);
    }
    expect(waited).toBeLessThanOrEqual(withinMs);
    await app.settle();
    const said = String(((await app.poll(id)).replies as string[])[0]);
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge?.usage?.output).toBe(said.length / PER_TOKEN);
    expect(said.length).toBeGreaterThanOrEqual(20 * 10 * WORD.length);
    await close();
  });

  it('is kept when the process ends', async () => {
    const begun = await beginChat();
    const { app, id } = begun;
    await speak(begun, 12);
    await app.api.drain(0);
    expect(await app.services.store.collection(QUESTS).get(id)).toMatchObject({
      status: 'done',
      text: WORD.repeat(120),
    });
    expect(await countPieces(begun)).toBe(0);
  });

  it('is deleted where a quest ended without its pieces', async () => {
    const begun = await beginChat();
    const { app, id } = begun;
    const texts = app.services.store.collection(QUEST_TEXTS);
    await speak(begun, 12);
    const pieces = await countPieces(begun);
    for (let at = 0; at < 450; at += 1) {
      await texts.insert({ id: `gone${at}:0`, questId: `gone${at}`, offset: 0, text: 'x', spoken: {} });
    }
    await app.clock.advance(600_000);
    await app.settle();
    expect(await texts.count({})).toBe(await countPieces(begun));
    expect(await countPieces(begun)).toBeGreaterThanOrEqual(pieces);
    expect((await app.poll(id)).reply).toBe(WORD.repeat(120));
  });
});
