import { setImmediate as nextTurn } from 'node:timers/promises';
import { QUESTS } from '@questline/core/internal';
import type { MoveOutcome } from '@questline/sql';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { findOwned, type MovingApp, type ShardName, shareMoves } from '../support/moves.ts';
import { makeSession } from '../support/owned-resources.ts';
import { type Pause, pauseStatements } from '../support/paused-statements.ts';
import { callAs } from '../support/sharing.ts';

const NAMES: readonly ShardName[] = ['a', 'b', 'c'];

const toNext = (name: ShardName): ShardName => NAMES[(NAMES.indexOf(name) + 1) % NAMES.length] ?? 'a';

const INTERRUPTED = new Error('the process ends');

/** Moves until a phase begins. */
const moveUntil = async (app: MovingApp, to: ShardName, phase: string): Promise<void> => {
  const stop = app.move(to, {
    onPhase(entered) {
      if (entered === phase) throw INTERRUPTED;
    },
  });
  await expect(stop).rejects.toThrow(INTERRUPTED);
};

describe('several moves of one owner at once', () => {
  const open = shareMoves();

  /** Where the owner is. It has everything there. */
  const findPlace = async (app: MovingApp, expected: ReadonlyMap<string, unknown>, name: string) => {
    const { posted } = await app.openPeer().ledger.balance(app.account);
    expect(posted, name).toBe(1_000_000_000);
    for (const place of NAMES) {
      if ((await app.single[place].ledger.balance(app.account)).posted === 0) continue;
      const found = await findOwned(app, place);
      for (const [key, value] of expected) expect(found.get(key), `${name} ${key}`).toEqual(value);
      return place;
    }
    throw new Error('the credit is gone');
  };

  it.each([
    { first: 'begins', later: 'is copying' },
    { first: 'begins', later: 'has ended' },
    { first: 'goes on with a move', later: 'is copying' },
    { first: 'goes on with a move', later: 'has ended' },
  ])(
    'lose nothing if the first one $first and waits before any call of the home database until a later one $later',
    async ({ first: title, later }) => {
      const app = await open();
      await makeSession(app, app.user);
      const path = '/api/v1/sessions';
      const content = await findOwned(app, 'a');
      const pause: Pause = { place: -1, calls: 0, go: undefined };
      const home = pauseStatements(app.databases.home, pause);
      let from: ShardName = 'a';
      let place = 0;
      for (let isPaused = true; isPaused; place += 1) {
        const [to, next] = [toNext(from), toNext(toNext(from))];
        if (title !== 'begins') await moveUntil(app, to, 'closed');
        Object.assign(pause, { place, calls: 0, go: undefined });
        let outcome = '';
        const first = app.move(to, { home }).then(
          (result: MoveOutcome) => {
            outcome = result.outcome;
          },
          (error: unknown) => {
            outcome = String(error);
          },
        );
        while (pause.go === undefined && outcome === '') await nextTurn();
        isPaused = pause.go !== undefined;
        if (isPaused) {
          expect(['moved', 'there'], `${place}`).toContain((await app.move(to)).outcome);
          if (later === 'is copying') await moveUntil(app, next, 'copying');
          else expect((await app.move(next)).outcome).toBe('moved');
        }
        pause.place = -1;
        pause.go?.();
        await first;
        const name = `${place} ${outcome}`;
        if (later === 'is copying' && isPaused) {
          expect((await callAs(app, app.user, 'GET', path)).status, name).toBe(503);
          expect((await app.move(next)).outcome, name).toBe('moved');
        }
        from = await findPlace(app, content, name);
      }
      expect(place).toBeGreaterThan(10);
    },
  );

  it.each(['with records', 'without records'])(
    'delete nothing of an owner that has come back, %s, when the first one goes on late',
    async (title) => {
      const app = await open();
      const { queue, limiter, eventLog, store } = app.openPeer();
      const owner = title === 'with records' ? app.user.id : app.services.ids.next();
      if (title === 'with records') {
        expect((await app.chat({ message: 'Hi' })).status).toBe(200);
        const [quest] = await store.collection(QUESTS).find({ ownerId: owner }, { limit: 1 });
        const batch = { attempt: 1, after: 0, events: [{ text: 'Hi' }], keepMs: 1e12 };
        await eventLog.append(quest?.id ?? '', batch);
      }
      await queue.enqueue({ kind: 'test', key: 'late', owner, payload: null });
      const window = { name: 'day', limit: 5, lengthMs: 1e12 };
      await limiter.take(`user:${owner}:standard`, [window], app.clock.now());
      const [from, to]: readonly [ShardName, ShardName] = title === 'with records' ? ['a', 'b'] : ['b', 'a'];
      const content = await findOwned(app, from);
      const clock = createFakeClock(app.clock.now());
      let isPaused = false;
      const first = app.move(to, {
        owner,
        clock,
        onPhase(phase) {
          isPaused = phase === 'deleting';
        },
        async each() {
          if (!isPaused) await clock.advance(500);
        },
      });
      const failed = expect(first).rejects.toThrow('was taken over by another process');
      while (!isPaused) await nextTurn();
      expect(await app.move(to, { owner })).toMatchObject({ outcome: 'moved' });
      expect(await app.move(from, { owner })).toMatchObject({ outcome: 'moved' });
      isPaused = false;
      await failed;
      expect(await findOwned(app, from)).toEqual(content);
    },
  );
});
