import { SESSIONS, type SessionRecord } from '@questline/core/internal';
import { type Collection, StorageUnavailable, type Store, type StoredRecord } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatApp } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';

const FOUND = { name: 'Bees in May', summary: 'About bees.', tags: [{ name: 'bees', strength: 0.9 }] };

const isEnrichment = ({ request }: ModelCall): boolean =>
  JSON.stringify(request.messages[0]).includes('You write titles, summaries');

/** Runs before what was found is stored. @param change changes the session, as another process does. */
type React = (
  time: number,
  change: (more: Partial<SessionRecord>) => Promise<unknown>,
) => Promise<'as changed meanwhile' | undefined>;

function createReactingStore(react: React) {
  let times = 0;
  const reacting = <R extends StoredRecord>(collection: Collection<R>): Collection<R> =>
    new Proxy(collection, {
      get(target, verb: keyof Collection<R>) {
        const method = target[verb] as (...given: unknown[]) => Promise<unknown>;
        return async (...given: unknown[]) => {
          const change = given[1] as Partial<SessionRecord> | undefined;
          const isOurs = verb === 'update' && change?.enrichedAt !== undefined;
          if (isOurs) {
            times += 1;
            const changed = await react(times, (more) => method.apply(target, [given[0], more]));
            if (changed !== undefined) return undefined;
          }
          return method.apply(target, given);
        };
      },
    });
  const wrap = (store: Store): Store => ({
    collection: (definition) =>
      definition.name === SESSIONS.name
        ? reacting(store.collection(definition))
        : store.collection(definition),
    transaction: (work, options) => store.transaction((inner) => work(wrap(inner)), options),
  });
  return wrap;
}

async function enrichWith(react: React) {
  let times = 0;
  const app = await createChatApp({
    store: createReactingStore((time, change) => {
      times = time;
      return react(time, change);
    }),
    onCall(call) {
      call.say(...answerParts(isEnrichment(call) ? JSON.stringify(FOUND) : 'Feed them.'));
      call.end();
    },
    settings: { enrichment: true, admin: { DefaultAPIModel: 'scripted' } },
  });
  const { body } = await app.chat({ message: 'What do bees need in May?', wait: true });
  await app.settle();
  const read = async () => (await app.json('GET', `/api/sessions/${body.sessionId}`)).body;
  const countPaid = async () => {
    const charges = await app.ledger.charges({ account: app.account }, 10);
    return charges.filter(({ operation, status }) => operation === 'enrichSession' && status === 'settled')
      .length;
  };
  return { app, read, countPaid, getTimes: () => times };
}

describe('enrichment of a session that is changed at the same time', () => {
  it.each([0, 1, 2])('is stored after %i changes that came before it', async (changes) => {
    const { read, countPaid, getTimes } = await enrichWith(async (time) =>
      time <= changes ? 'as changed meanwhile' : undefined,
    );
    expect(await read()).toMatchObject(FOUND);
    expect([getTimes(), await countPaid()]).toEqual([changes + 1, 1]);
  });

  it.each<[string, Partial<SessionRecord>, object]>([
    ['a name that a user sets', { name: 'Mine' }, { name: 'Mine', summary: FOUND.summary }],
    ['a name that is set with a later time', { name: 'Mine', lastUpdated: 9e12 }, { name: 'Mine' }],
    [
      'tags that a user sets',
      { tags: [{ name: 'own', strength: 1 }], lastUpdated: 9e12 },
      { tags: [{ name: 'own', strength: 1 }], name: FOUND.name },
    ],
  ])('keeps %s at the last moment', async (_name, chosen, expected) => {
    const { read, getTimes } = await enrichWith(async (time, change) => {
      if (time === 1) await change(chosen);
      return undefined;
    });
    expect(await read()).toMatchObject(expected);
    expect(getTimes()).toBe(2);
  });

  it('is not stored when its user loses the session at the last moment', async () => {
    const { app, getTimes } = await enrichWith(async (_time, change) => {
      await change({ ownerId: 'f'.repeat(24) });
      return undefined;
    });
    const [session] = await app.services.store.collection(SESSIONS).find({});
    expect([session?.name, session?.summary, getTimes()]).toEqual([
      'What do bees need in May?',
      undefined,
      1,
    ]);
  });

  it('is given up after three tries, and is paid once', async () => {
    const { app, read, countPaid, getTimes } = await enrichWith(async () => 'as changed meanwhile');
    expect(await read()).toMatchObject({ name: 'What do bees need in May?', tags: [] });
    expect([getTimes(), await countPaid(), app.incidents]).toEqual([3, 1, []]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('is stored by a repetition when the store fails once, and is paid once', async () => {
    const { app, read, countPaid } = await enrichWith(async (time) => {
      if (time === 1) throw new StorageUnavailable('broken off');
      return undefined;
    });
    for (let passed = 0; passed < 90_000; passed += 5000) {
      await app.clock.advance(5000);
      await app.settle();
    }
    expect(await read()).toMatchObject(FOUND);
    expect([await countPaid(), (await app.ledger.balance(app.account)).held]).toEqual([1, 0]);
  });
});
