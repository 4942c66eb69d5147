import { setImmediate as nextTurn } from 'node:timers/promises';
import { MESSAGES, type MessageRecord, SESSIONS } from '@questline/core/internal';
import { isStorageUnavailable } from '@questline/core/ports';
import type { ShardPorts } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { shareDatabase } from '../../packages/sql/test/shared.ts';
import { createMovingApp, MOVE_COLLECTIONS } from '../support/moves.ts';
import { makeSession } from '../support/owned-resources.ts';
import { type Pause, pauseStatements } from '../support/paused-statements.ts';

interface Given {
  readonly ports: ShardPorts;
  readonly sessionId: string;
  readonly owner: string;
  readonly account: string;
  readonly id: string;
}

const toMessage = ({ id, sessionId, owner }: Given) =>
  ({ id, sessionId, ownerId: owner, createdAt: 0 }) as MessageRecord;

interface Call {
  /** Makes the process remember more places. */
  remember?(given: Given): Promise<unknown>;
  call(given: Given): Promise<unknown>;
  isThere(given: Given): Promise<boolean>;
}

const GRANT: Call = {
  call: ({ ports, account, id }) => ports.ledger.grant({ account, amount: 5, key: id, reason: 'test' }),
  isThere: async ({ ports, account, id }) =>
    (await ports.ledger.entries(account, { limit: 100 })).some(({ key }) => key === id),
};

/** Calls of another process. Each has an effect that `isThere` finds. */
const CALLS: Readonly<Record<string, Call>> = {
  'an insert': {
    call: (given) => given.ports.store.collection(MESSAGES).insert(toMessage(given)),
    isThere: async ({ ports, id }) => (await ports.store.collection(MESSAGES).get(id)) !== undefined,
  },
  'a transaction': {
    call: (given) =>
      given.ports.store.transaction(async (inner) => {
        await inner.collection(SESSIONS).get(given.sessionId);
        await inner.collection(MESSAGES).insert(toMessage(given));
      }),
    isThere: async ({ ports, id }) => (await ports.store.collection(MESSAGES).get(id)) !== undefined,
  },
  'several writes in one step': {
    call: async (given) => {
      const record = toMessage(given);
      const write = { do: 'insert', collection: MESSAGES as never, id: record.id, record } as const;
      if (!(await given.ports.store.writeAll?.([write]))) throw new Error('not written');
    },
    isThere: async ({ ports, id }) => (await ports.store.collection(MESSAGES).get(id)) !== undefined,
  },
  'an update': {
    async call({ ports, sessionId, id }) {
      const changed = await ports.store.collection(SESSIONS).update(sessionId, { name: id });
      if (changed === undefined) throw new Error('not found');
    },
    isThere: async ({ ports, sessionId, id }) =>
      (await ports.store.collection(SESSIONS).get(sessionId))?.name === id,
  },
  'a grant of credit': GRANT,
  'a grant of credit to a known owner': {
    ...GRANT,
    remember: ({ ports, account }) => ports.ledger.balance(account),
  },
  'a job': {
    call: ({ ports, owner, id }) => ports.queue.enqueue({ kind: 'test', key: id, owner, payload: null }),
    isThere: async ({ ports, id }) => ((await ports.queue.findKeys?.([id])) ?? []).includes(id),
  },
};

/** Where a process is paused, and until when. */
const PAUSES = (['before', 'after'] as const).flatMap((at) =>
  (['deleting', 'over'] as const).map((until) => ({ at, until })),
);

describe.each(PAUSES)(
  'a process that is paused $at the effect of one of its statements while an owner moves, until the move is $until',
  ({ at, until }) => {
    const shared = Array.from({ length: 4 }, () => shareDatabase(SQLITE_MEMORY, MOVE_COLLECTIONS));

    it.each(Object.keys(CALLS))(
      '%s is not confirmed, or has its effect in the new database',
      async (title) => {
        const [home, a, b, c] = await Promise.all(shared.map((one) => one.fresh()));
        if (!home || !a || !b || !c) throw new Error('four databases');
        const app = await createMovingApp({ databases: { home, a, b, c } });
        const { id: owner } = app.user;
        const sessionId = await makeSession(app, app.user);
        const pause: Pause = { place: -1, at, calls: 0, go: undefined };
        const paused = app.openPeer((database) => pauseStatements(database, pause));
        const other = app.openPeer();
        let place = 0;
        let outcomes = '';
        for (let isPaused = true; isPaused; place += 1) {
          const given = { sessionId, owner, account: app.account, id: app.services.ids.next() };
          // It remembers the places of before.
          await paused.store.collection(SESSIONS).get(sessionId);
          await CALLS[title]?.remember?.({ ...given, ports: paused });
          // It reads the moves again.
          await app.clock.advance(2000);
          Object.assign(pause, { place, calls: 0, go: undefined });
          let outcome = 'waits';
          const call = CALLS[title]?.call({ ...given, ports: paused }).then(
            () => {
              outcome = 'done';
            },
            (error: unknown) => {
              outcome = isStorageUnavailable(error) ? 'refused' : String(error);
            },
          );
          for (let turns = 0; turns < 20 && outcome === 'waits'; turns += 1) await nextTurn();
          isPaused = pause.go !== undefined;
          const goOn = (): void => {
            pause.place = -1;
            pause.go?.();
          };
          const moved = await app.move(place % 2 === 0 ? 'b' : 'a', {
            onPhase(phase) {
              if (phase === until) goOn();
            },
          });
          expect(moved.outcome).toBe('moved');
          goOn();
          await call;
          const name = `${place} ${outcome}`;
          expect(['done', 'refused'], name).toContain(outcome);
          if (outcome === 'done') {
            expect(await CALLS[title]?.isThere({ ...given, ports: other }), name).toBe(true);
          }
          outcomes += outcome[0];
        }
        expect(place).toBeGreaterThan(1);
        expect(outcomes).toContain('r');
      },
    );
  },
);
