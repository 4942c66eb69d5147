import { setImmediate as nextTurn } from 'node:timers/promises';
import { QUESTS } from '@questline/core/internal';
import { migrate } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { createFault, type Fault, type Loss, loseStatements } from '../support/lost-statements.ts';
import {
  createMovingApp,
  MOVE_COLLECTIONS,
  type MovingApp,
  readAccount,
  readContent,
  readExport,
} from '../support/moves.ts';
import { MAKERS } from '../support/owned-resources.ts';

interface Moves {
  readonly losses: readonly Loss[];
  /** Every how many statements one is lost. */
  readonly step: number;
  /** Moves of one owner. Each adds a part to the history, which is read whole after each move. */
  readonly perOwner: number;
}

/**
 * PostgreSQL shows that its statements do the same; one kind of loss, of every fourth statement, takes less time. There,
 * new databases take longer than long histories.
 */
const ENGINES: readonly (Engine & Moves)[] = [
  { ...SQLITE_MEMORY, losses: ['before', 'after'], step: 1, perOwner: 20 },
  ...(POSTGRES_URL === undefined
    ? []
    : [{ ...POSTGRES, losses: ['after' as const], step: 4, perOwner: 100 }]),
];

/** The keys of audit entries and answers stay where they are. */
const STAYS = /^(?:audit_log|idempotency) /;

interface MovingOwner {
  readonly app: MovingApp;
  close(): Promise<void>;
}

/** An owner with records of all kinds, and a cap. */
async function createOwner(kind: Engine, fault: Fault): Promise<MovingOwner> {
  const engines = await Promise.all([kind.open(), kind.open(), kind.open(), kind.open()]);
  for (const { database } of engines) await migrate(database, { collections: MOVE_COLLECTIONS });
  const [home, a, b, c] = engines.map(({ database }) => loseStatements(database, fault));
  if (!home || !a || !b || !c) throw new Error('four databases');
  const app = await createMovingApp({ databases: { home, a, b, c }, getRunning: () => fault.running });
  for (const make of new Set(Object.values(MAKERS))) await make(app, app.user);
  const capped = await app.issue({ spendCap: { amount: 1e9, period: 'total' }, scopes: ['ai:chat'] });
  await app.chat({ message: 'Hi' }, { credential: capped.key });
  const { ledger } = app.services;
  const details = { operation: 'chat', keyId: capped.record.id };
  const cap = { id: `key:${capped.record.id}:total`, limit: 1e9 };
  const expiresAt = app.clock.now() + 60_000;
  const call = { account: app.account, amount: 500, key: 'call', expiresAt, details, cap };
  const held = await ledger.hold(call);
  if (held.outcome !== 'held') throw new Error('no credit');
  await ledger.settle(held.hold, 300);
  const ports = app.openPeer();
  const [quest] = await ports.store.collection(QUESTS).find({ ownerId: app.user.id }, { limit: 1 });
  const batch = { attempt: 1, after: 0, events: [{ text: 'Hi' }], keepMs: 1e12 };
  await ports.eventLog.append(quest?.id ?? '', batch);
  return {
    app,
    async close() {
      await app.api.close();
      for (const engine of engines) await engine.close();
    },
  };
}

const readOwned = async ({ databases, single }: MovingApp, name: 'a' | 'b') =>
  new Map([...(await readContent(databases[name], single[name]))].filter(([key]) => !STAYS.test(key)));

/**
 * Moves an owner between two databases. Each move loses a statement, the first one that of number `first`.
 * @returns whether the last move was long enough to lose its statement.
 */
async function moveOften(
  app: MovingApp,
  fault: Fault,
  { loss, first, step, perOwner }: Omit<Moves, 'losses'> & { readonly loss: Loss; readonly first: number },
): Promise<boolean> {
  const ports = app.openPeer();
  const { account, single, services } = app;
  const capId = (await ports.ledger.charges({ account }, 10))[0]?.keyId;
  const readUser = async () => ({
    ...(await readAccount(ports, account)),
    cap: await ports.ledger.capUsed(`key:${capId}:total`),
    exported: (await readExport(ports, 0, account)).length,
  });
  const expected = await readUser();
  let from: 'a' | 'b' = (await readOwned(app, 'a')).size > (await readOwned(app, 'b')).size ? 'a' : 'b';
  const content = await readOwned(app, from);
  expect(content.size).toBeGreaterThan(20);
  let position = (await readExport(ports, 0)).at(-1)?.position ?? 0;
  for (let place = first; place < first + perOwner * step; place += step) {
    const name = `${loss} ${place}`;
    const to = from === 'a' ? 'b' : 'a';
    Object.assign(fault, { place, loss, calls: 0, isHit: false });
    await app.move(to).catch(() => undefined);
    const { isHit } = fault;
    fault.place = -1;
    while (fault.running > 0) await nextTurn();
    expect(['moved', 'there'], name).toContain((await app.move(to)).outcome);
    expect(await readOwned(app, from), name).toEqual(new Map());
    expect(await readOwned(app, to), name).toEqual(content);
    expect(await readUser(), name).toEqual(expected);
    const [left, moved] = await Promise.all(
      [from, to].map((one) => single[one as 'a'].ledger.balance(account)),
    );
    expect([left?.posted, moved?.posted], name).toEqual([0, expected.balance.posted]);
    const added = await readExport(ports, position);
    expect(
      added.reduce((sum, { amount }) => sum + amount, 0),
      name,
    ).toBe(0);
    position = added.at(-1)?.position ?? position;
    expect(await services.ledger.grant({ account, amount: 1, key: 'start', reason: 'again' }), name).toBe(
      false,
    );
    if (!isHit) return false;
    from = to;
  }
  return true;
}

describe.each(ENGINES)(
  'a move of an owner with one lost statement on $name',
  ({ losses, step, perOwner, ...kind }) => {
    it.each(losses)(
      '%s its effect: has everything once, and the same credit, after it is repeated',
      async (loss) => {
        let first = 0;
        for (let isHit = true; isHit; first += perOwner * step) {
          const fault = createFault();
          const { app, close } = await createOwner(kind, fault);
          isHit = await moveOften(app, fault, { loss, first, step, perOwner });
          await close();
        }
        expect(first).toBeGreaterThan(50);
      },
      900_000,
    );
  },
);
