import { QUESTS } from '@questline/core/internal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type OpenEngine } from '../../packages/sql/test/engines.ts';
import { openLossyApp } from '../support/lossy-app.ts';
import type { Loss } from '../support/lost-statements.ts';

const [MEMORY, SERVER] = [ENGINES.at(0), ENGINES.at(-1)];
const MICRO = 1_000_000;
const TEXT = 'Once upon a time';

describe.each([MEMORY, SERVER].filter((engine) => engine !== undefined))(
  'a stopped turn whose statements are lost on $name',
  (kind) => {
    let engine: OpenEngine;
    let app: Awaited<ReturnType<typeof openLossyApp>>;

    beforeAll(async () => {
      engine = await kind.open();
      // An answer that goes on until it is stopped.
      app = await openLossyApp(engine.database, (call) => call.say({ type: 'text', text: TEXT }));
    }, 60_000);

    afterAll(async () => {
      await app.api.close();
      await engine.close();
    });

    /**
     * Stops a turn whose call number `place` after that is lost. @param isLasting whether all later calls of the turn are lost too.
     * @returns whether it has so many calls.
     */
    const stopTurn = async (place: number, loss: Loss, isLasting: boolean): Promise<boolean> => {
      const { services, account, fault, settle } = app;
      const { store, ledger, queue } = services;
      const quests = store.collection(QUESTS);
      const { posted: before } = await ledger.balance(account);
      const accepted = await app.post('/api/chat', { message: 'Tell me a story.' });
      if (accepted === undefined) throw new Error('no response');
      const { id } = (await accepted.json()) as { readonly id: string };
      await settle();
      Object.assign(fault, { place, loss, isLasting, calls: 0, isHit: false });
      await (await app.post(`/api/v1/quests/${id}/cancel`))?.text();
      await settle();
      const { isHit } = fault;
      await app.recover();
      // Its request was lost before the quest was stopped.
      if ((await quests.get(id))?.status === 'running') {
        await (await app.post(`/api/v1/quests/${id}/cancel`))?.text();
        await settle();
      }
      const { posted, held } = await ledger.balance(account);
      const quest = await quests.get(id);
      const reported = Math.round((quest?.promptMeta?.credits ?? 0) * MICRO);
      expect({ held, reported, status: quest?.status }, `${loss} ${place}`).toEqual({
        held: 0,
        reported: before - posted,
        status: 'stopped',
      });
      // The charged text is stored.
      expect(reported > 0 ? quest?.text : TEXT, `${loss} ${place}`).toBe(TEXT);
      expect(await queue.counts()).toMatchObject({ ready: 0, leased: 0 });
      return isHit;
    };

    it.each([
      { loss: 'before', isLasting: false, what: 'one is lost before its effect' },
      { loss: 'after', isLasting: false, what: 'the answer of one is lost' },
      { loss: 'before', isLasting: true, what: 'one and all after it are lost' },
    ] as const)(
      'reports what it charged when $what',
      async ({ loss, isLasting }) => {
        let place = 0;
        while (await stopTurn(place, loss, isLasting)) place += 1;
        expect(place).toBeGreaterThan(2);
      },
      240_000,
    );
  },
);
