import { describe, expect, it } from 'vitest';
import { createMemoryEventLog } from '../../../memory/event-log.ts';
import { createMemoryStore } from '../../../memory/store.ts';
import type { AgeRetention } from '../../../operations/retention.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Store } from '../../../ports/store.ts';
import type { QuestEvents } from '../../../runs/quest-events.ts';
import { newQuest, QUESTS } from '../../../runs/records.ts';
import { STORAGE_USAGE } from '../../storage/usage.ts';
import { RESPONSE, RESPONSES } from './records.ts';
import { removeResponse, responseRetention } from './removal.ts';

const NOW = 1000;
const OWNER = 'u';
const unused = async () => false;

type Remove = Extract<AgeRetention, { readonly remove: unknown }>['remove'];

/** A response that runs, of 70 bytes. */
async function setUp() {
  const store = createMemoryStore();
  const clock: Clock = { now: () => NOW, timer: () => () => undefined };
  const stopped: string[] = [];
  const questEvents = { stopped: (id: string) => void stopped.push(id) } as unknown as QuestEvents;
  const request = { payer: { userId: OWNER, account: 'user:u' }, requestId: 'r' };
  await store
    .collection(QUESTS)
    .insert(newQuest({ id: 'q', kind: RESPONSE, sessionId: 'q', ownerId: OWNER, request }, NOW));
  await store.collection(RESPONSES).insert({
    ...{ id: 'q', ownerId: OWNER, wire: '{}', input: '[]', earlier: [], bytes: 70, createdAt: NOW },
  });
  await store.collection(STORAGE_USAGE).insert({ id: `${OWNER}:sessions`, bytes: 100 });
  const services = { store, clock, eventLog: createMemoryEventLog({ clock }), questEvents };
  const { byAge } = responseRetention(services);
  const { remove } = byAge as { readonly remove: Remove };
  const read = async () => ({
    response: (await store.collection(RESPONSES).get('q'))?.id,
    status: (await store.collection(QUESTS).get('q'))?.status,
    bytes: (await store.collection(STORAGE_USAGE).get(`${OWNER}:sessions`))?.bytes,
    stopped,
  });
  return { services, remove, read };
}

const KEPT = { response: 'q', status: 'pending', bytes: 100, stopped: [] };
const REMOVED = { response: undefined, status: undefined, bytes: 30, stopped: ['q'] };

describe('the removal of a response', () => {
  it('stops its work and gives its room back, once', async () => {
    const { services, read } = await setUp();
    expect(await removeResponse(services, { id: 'q', ownerId: OWNER })).toBe(true);
    expect(await read()).toEqual(REMOVED);
    expect(await removeResponse(services, { id: 'q', ownerId: OWNER })).toBe(false);
    expect(await read()).toEqual(REMOVED);
  });

  it('changes nothing for another user', async () => {
    const { services, read } = await setUp();
    expect(await removeResponse(services, { id: 'q', ownerId: 'other' })).toBe(false);
    expect(await read()).toEqual(KEPT);
  });

  it('changes nothing if the response is in use, as its transaction sees it', async () => {
    const { services, read } = await setUp();
    const seen: Store[] = [];
    const isInUse = async (store: Store) => {
      seen.push(store);
      return true;
    };
    expect(await removeResponse(services, { id: 'q', ownerId: OWNER }, isInUse)).toBe(false);
    expect(await read()).toEqual(KEPT);
    expect(seen).toHaveLength(1);
    expect(seen).not.toContain(services.store);
  });
});

describe('the retention of responses', () => {
  it('removes only those from before the time, and not in use', async () => {
    const { remove, read } = await setUp();
    expect(await remove('q', { before: NOW, isInUse: unused })).toBe(false);
    expect(await remove('q', { before: NOW + 1, isInUse: async () => true })).toBe(false);
    expect(await read()).toEqual(KEPT);
    expect(await remove('q', { before: NOW + 1, isInUse: unused })).toBe(true);
    expect(await read()).toEqual(REMOVED);
  });

  it('finds nothing to remove for an unknown response', async () => {
    const { remove, read } = await setUp();
    expect(await remove('other', { before: NOW + 1, isInUse: unused })).toBe(false);
    expect(await read()).toEqual(KEPT);
  });
});
