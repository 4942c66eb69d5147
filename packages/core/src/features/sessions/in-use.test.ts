import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { NO_HOLDER, WAITING } from '../../runs/states.ts';
import { turnsInUse } from './in-use.ts';
import { SESSIONS, type SessionRecord } from './records.ts';

const toId = (number: number): string => number.toString(16).padStart(24, '0');
const [S, T, U] = [toId(1), toId(2), toId(3)] as const;
const FILES = Array.from({ length: 8 }, (_, at) => toId(100 + at));
const [A, B, C, D, E] = FILES as [string, string, string, string, string];

async function setUp(
  quests: readonly Partial<QuestRecord>[],
  sessions: readonly Partial<SessionRecord>[] = [],
) {
  const memory = createMemoryStore();
  let reads = 0;
  const store: Store = {
    ...memory,
    collection(definition) {
      const collection = memory.collection(definition);
      return {
        ...collection,
        find(...given) {
          reads += 1;
          if (reads > 10) throw new Error('too many reads');
          if (definition.name === QUESTS.name) expect(given[1]?.limit).toBe(500);
          return collection.find(...given);
        },
      };
    },
  };
  for (const [at, quest] of quests.entries()) {
    await memory.collection(QUESTS).insert({
      ...{ id: toId(1000 + at), ownerId: 'ada', sessionId: S, kind: 'chat', status: 'running' },
      ...{ request: {}, liveSince: 5, createdAt: 1, updatedAt: 1 },
      ...quest,
    } as unknown as QuestRecord);
  }
  for (const session of sessions) {
    await memory.collection(SESSIONS).insert({ ownerId: 'ada', name: 'n', ...session } as SessionRecord);
  }
  return {
    countReads: () => reads,
    sessions: async (...ids: string[]) => [...((await turnsInUse.sessions?.(store, ids)) ?? [])].sort(),
    files: async (ids: readonly string[], since?: number) =>
      [...((await turnsInUse.files?.(store, ids, since)) ?? [])].sort(),
  };
}

const ended = { liveSince: undefined } as unknown as Partial<QuestRecord>;

describe('sessions in use', () => {
  it('are those with a turn that lives, or that a worker still closes', async () => {
    const { sessions } = await setUp([
      { sessionId: S },
      { sessionId: S },
      { sessionId: T, ...ended, status: 'stopped', jobId: 'job' },
      { sessionId: U, ...ended, status: 'done', jobId: 'job' },
      { sessionId: toId(4), ...ended, status: 'stopped', jobId: NO_HOLDER },
      { sessionId: toId(5) },
    ]);
    expect(await sessions(S, T, U, toId(4))).toEqual([S, T]);
    expect(await sessions(U)).toEqual([]);
  });

  it.each([499, 500, 501, 1001])('are found behind %i turns of another session', async (count) => {
    const quests = Array.from({ length: count }, () => ({ sessionId: S }));
    const { sessions } = await setUp([...quests, { sessionId: T }]);
    expect(await sessions(S, T)).toEqual([S, T]);
  });
});

describe('files in use', () => {
  it('are those in the requests, results, payloads and open calls of live turns', async () => {
    const { files } = await setUp([
      { request: { fileIds: [A] } } as unknown as Partial<QuestRecord>,
      { files: [{ id: B }] } as unknown as Partial<QuestRecord>,
      { toolPayloads: [{ type: 'x', payload: { file: C } }] },
      { wait: { calls: [{ input: { file: D } }] } } as unknown as Partial<QuestRecord>,
      { ...ended, request: { fileIds: [E] } } as unknown as Partial<QuestRecord>,
    ]);
    expect(await files(FILES)).toEqual([A, B, C, D]);
    expect(await files([B, E])).toEqual([B]);
  });

  it('are those of the sessions of live turns', async () => {
    const { files } = await setUp(
      [{ sessionId: S }, { sessionId: U }, { sessionId: T, ...ended }],
      [{ id: S, knowledgeIds: [A] }, { id: U }, { id: T, knowledgeIds: [B] }],
    );
    expect(await files(FILES)).toEqual([A]);
  });

  it('are those of turns that began, paused or were decided since a time', async () => {
    const at = (liveSince: number, updatedAt: number, id: string) =>
      ({ liveSince, updatedAt, request: { fileIds: [id] } }) as unknown as Partial<QuestRecord>;
    const { files } = await setUp([at(9, 20, A), at(10, 1, B), at(WAITING, 10, C), at(WAITING, 9, D)]);
    expect(await files(FILES, 10)).toEqual([B, C]);
    expect(await files(FILES)).toEqual([A, B, C, D]);
  });

  it.each([499, 500, 501, 1000])('are found behind %i other live turns', async (count) => {
    const quests = Array.from({ length: count }, (_, at) => ({
      liveSince: 5000 - at,
      request: { fileIds: [B] },
    }));
    const last = { liveSince: 6000, request: { fileIds: [A] } };
    const { files } = await setUp([...quests, last] as unknown as Partial<QuestRecord>[]);
    expect(await files([A])).toEqual([A]);
  });

  it('are those of a single session, and need one read of the turns and of the sessions', async () => {
    const { files, countReads } = await setUp([{ sessionId: S }], [{ id: S, knowledgeIds: [A] }]);
    expect([await files(FILES), countReads()]).toEqual([[A], 2]);
    const empty = await setUp([]);
    expect([await empty.files(FILES), empty.countReads()]).toEqual([[], 1]);
  });

  it('are only whole ids', async () => {
    const request = { message: `x${A} ${B}0 ${C}`, fileIds: [] };
    const { files } = await setUp([{ request } as unknown as Partial<QuestRecord>]);
    expect(await files(FILES)).toEqual([C]);
  });
});
