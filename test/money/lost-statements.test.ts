import { MESSAGES, QUESTS } from '@questline/core/internal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type OpenEngine } from '../../packages/sql/test/engines.ts';
import { sayAtOnce } from '../support/chat.ts';
import { openLossyApp } from '../support/lossy-app.ts';
import type { Loss } from '../support/lost-statements.ts';

/** 10 input tokens and one output token. */
const CHARGE = 110_000;

const [MEMORY, SERVER] = [ENGINES.at(0), ENGINES.at(-1)];

describe.each([MEMORY, SERVER].filter((engine) => engine !== undefined))(
  'a turn with one lost statement on $name',
  (kind) => {
    let engine: OpenEngine;
    let app: Awaited<ReturnType<typeof openLossyApp>>;

    beforeAll(async () => {
      engine = await kind.open();
      app = await openLossyApp(engine.database, sayAtOnce('Hello.'));
    }, 60_000);

    afterAll(async () => {
      await app.api.close();
      await engine.close();
    });

    /** Runs a turn whose call number `place` is lost. @returns whether it has so many calls. */
    const runTurn = async (place: number, loss: Loss): Promise<boolean> => {
      const { services, account, fault, settle } = app;
      const { store, ledger, queue } = services;
      const quests = store.collection(QUESTS);
      const messages = store.collection(MESSAGES);
      const { posted: before } = await ledger.balance(account);
      const known = await quests.count({});
      Object.assign(fault, { place, loss, calls: 0, isHit: false });
      const response = await app.post('/api/chat', { message: 'Hi' });
      await response?.text();
      await settle();
      await app.recover();
      const accepted = (await quests.find({})).slice(known);
      expect(accepted.length, `${loss} ${place}`).toBeLessThanOrEqual(1);
      if (response?.status === 200) expect(accepted.length, `${loss} ${place}`).toBe(1);
      const { posted, held } = await ledger.balance(account);
      const [quest] = accepted;
      const isAnswered = quest?.status === 'done' && quest.type === 'message';
      if (quest !== undefined) expect(['done', 'stopped'], `${loss} ${place}`).toContain(quest.status);
      const count = quest === undefined ? 0 : await messages.count({ sessionId: quest.sessionId });
      expect({ held, charged: before - posted, count }, `${loss} ${place} ${quest?.status}`).toEqual({
        held: 0,
        charged: isAnswered ? CHARGE : expect.toSatisfy((amount) => amount === 0 || amount === CHARGE),
        count: isAnswered ? 2 : expect.any(Number),
      });
      expect(await queue.counts()).toMatchObject({ ready: 0, leased: 0 });
      return fault.isHit;
    };

    it.each(['before', 'after'] as const)(
      '%s its effect: is charged once or not at all, and ends',
      async (loss) => {
        let place = 0;
        while (await runTurn(place, loss)) place += 1;
        expect(place).toBeGreaterThan(5);
      },
      240_000,
    );
  },
);
