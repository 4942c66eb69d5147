import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { IMAGE, MODEL, setUp as setUpFiles, TEXT, toId } from '../../../test/files-reader.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { LeasedJob } from '../../ports/queue.ts';
import { writeAll } from '../../ports/write-all.ts';
import type { RunContext } from '../../runs/run-context.ts';
import type { FilesReader } from '../files/reader.ts';
import { MESSAGES, type MessageRecord, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { NEWEST_MESSAGES } from '../sessions/session.ts';
import { type DialogueRequest, type DialogueServices, loadTurnInput, readKnownInput } from './turn-input.ts';

const INFO = { ...MODEL, name: 'Scribe', type: 'text', contextWindow: 1000, maxOutputTokens: 500 };
const ENTRY = { info: INFO, provider: { id: 'vendor' }, providerModel: 'm' };
const toMessage = (number: number): MessageRecord => ({
  ...{ id: toId(number), sessionId: 's', ownerId: 'ada', role: 'user', content: `m${number}` },
  createdAt: number,
});

/** A session of `ada` with some messages, which `bob` may change and `eve` may read. */
async function setUp(count: number) {
  const store = createMemoryStore();
  const session = { id: 's', ownerId: 'ada', readerIds: ['eve'], writerIds: ['bob'] };
  await store.collection(SESSIONS).insert(session as Partial<SessionRecord> as SessionRecord);
  for (let number = 1; number <= count; number += 1)
    await store.collection(MESSAGES).insert(toMessage(number));
  const updates: unknown[] = [];
  const known = new Map<unknown, { input: unknown }>();
  const { reader } = await setUpFiles(undefined, Uint8Array.of(1));
  const signals: unknown[] = [];
  const files: FilesReader = {
    ...reader,
    contents(...given) {
      signals.push(given[3]?.signal);
      return reader.contents(...given);
    },
  };
  const { signal } = new AbortController();
  const services = {
    ...{ store: delayed(store), files, fallbacks: {}, claimedQuests: known },
    getCatalogue: async () => ({
      find: (id: string) => (id === 'm' ? ENTRY : undefined),
      findRetired: () => undefined,
    }),
  } as unknown as DialogueServices;
  const run = {
    ...{ quest: { id: 'q', sessionId: 's', ownerId: 'ada', request: {} }, lease: 'lease' },
    ...{ signal, update: (more: unknown) => void updates.push(more) },
  } as unknown as RunContext;
  const load = (request: Partial<DialogueRequest> = {}, historyCount?: number) =>
    loadTurnInput(services, run, { model: 'm', maxTokens: 100, ...request } as DialogueRequest, historyCount);
  return { store, known, updates, load, signal, signals };
}

describe('input of a turn', () => {
  it('is the session, its newest messages, and the model', async () => {
    const { load, updates } = await setUp(3);
    const input = await load();
    expect(input.session.id).toBe('s');
    expect(input.history.map(({ content }) => content)).toEqual(['m1', 'm2', 'm3']);
    expect([input.lastMessage, input.candidates[0].info.id, input.contents]).toEqual([3, 'm', []]);
    expect(input.tokenLimit).toBeGreaterThan(0);
    expect(input.tokenLimit).toBeLessThanOrEqual(900);
    expect((await load({}, 2)).history.map(({ content }) => content)).toEqual(['m2', 'm3']);
    expect(updates).toEqual([]);
  });

  it('ends before the messages that the turn replaces', async () => {
    const { load } = await setUp(3);
    const replaces = { from: { id: toId(2), createdAt: 2 } } as unknown as DialogueRequest['replaces'];
    expect((await load({ ...(replaces && { replaces }) })).history.map(({ content }) => content)).toEqual([
      'm1',
    ]);
  });

  it('is what was read with the claim', async () => {
    const { known, load } = await setUp(0);
    const session = { id: 'known', ownerId: 'ada' } as Partial<SessionRecord> as SessionRecord;
    known.set('lease', { input: { session, newest: [toMessage(7)] } });
    const input = await load();
    expect([input.session, input.history.map(({ content }) => content)]).toEqual([session, ['m7']]);
  });

  it('has the attached files, and notes which were delivered', async () => {
    const { load, updates, signal, signals } = await setUp(0);
    const input = await load({ fileIds: [TEXT, IMAGE] });
    expect(signals).toEqual([signal]);
    expect(input.contents.map(({ type }) => type)).toEqual(['document', 'image']);
    const delivery = { requested: 2, delivered: 2, fullyDelivered: true, dropped: 0, droppedIds: [] };
    expect(updates).toEqual([{ attachmentDelivery: delivery }]);
    expect(Object.keys(updates[0] ?? {})).toEqual(['attachmentDelivery']);
  });

  it('notes the attached files that the model cannot have', async () => {
    const { load, updates } = await setUp(0);
    await load({ fileIds: [toId(9)] });
    expect(updates).toMatchObject([
      {
        attachmentDelivery: { requested: 1, dropped: 1, droppedIds: [toId(9)] },
        attachmentNotices: ['1 of 1 attached files could not be given to Scribe.'],
      },
    ]);
  });
});

describe('input that is read with the claim of a turn', () => {
  async function read(job: object, count = 0) {
    const { store } = await setUp(count);
    await store.collection(MESSAGES).insert({ ...toMessage(90), sessionId: 'other' });
    const first = readKnownInput(job as LeasedJob);
    if (first === undefined) return 'not read';
    await writeAll({ ...store }, first.reads);
    return first.getInput() as { session: SessionRecord; newest: readonly MessageRecord[] } | undefined;
  }

  it('is the session and its newest messages, newest first', async () => {
    const found = await read({ owner: 'ada', payload: { sessionId: 's' } }, NEWEST_MESSAGES + 1);
    if (found === undefined || found === 'not read') throw new Error('expected an input');
    expect(found.session.id).toBe('s');
    expect(found.newest.map(({ createdAt }) => createdAt)).toEqual(
      Array.from({ length: NEWEST_MESSAGES }, (_, at) => NEWEST_MESSAGES + 1 - at),
    );
  });

  it('is that of a user who may change the session only', async () => {
    expect(await read({ owner: 'bob', payload: { sessionId: 's' } })).toMatchObject({ newest: [] });
    expect(await read({ owner: 'eve', payload: { sessionId: 's' } })).toBeUndefined();
    expect(await read({ owner: 'ada', payload: { sessionId: 'other' } })).toBeUndefined();
  });

  it('is not read for a job without an owner or a session', async () => {
    expect(await read({ payload: { sessionId: 's' } })).toBe('not read');
    expect(await read({ owner: 'ada', payload: {} })).toBe('not read');
    expect(await read({ owner: 'ada', payload: { sessionId: 7 } })).toBe('not read');
  });
});
