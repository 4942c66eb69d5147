import { createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { createSecretBox } from '../../models/secret-box.ts';
import type { QuestRecord, WaitingCall } from '../../runs/records.ts';
import { openWork, type PausedWork, sealWork } from './paused-work.ts';

const toBox = (key: number) => createSecretBox(new Uint8Array(32).fill(key), createFakeIds());
const CALLS = [{ id: 'call-1' }] as unknown as readonly WaitingCall[];
const WORK = {
  ...{ model: 'm', tools: ['look'], systemText: 'Count.', turnText: 'Now.', turn: { rounds: 2 } },
  history: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }], id: 'stored', ownerId: 'ada' }],
} as unknown as PausedWork;

it('restores the work of its quest, without further fields of the messages', () => {
  const wait = { ...sealWork(toBox(7), 'q', WORK, CALLS), since: 1 };
  expect(JSON.stringify(wait)).not.toContain('Count.');
  const quest = { id: 'q', wait } as unknown as QuestRecord;
  expect(openWork(toBox(7), quest)).toEqual({
    ...WORK,
    history: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    calls: CALLS,
  });
});

it('opens nothing of a quest that does not wait', () => {
  expect(openWork(toBox(7), { id: 'q' } as QuestRecord)).toBeUndefined();
});

it('fails for the work of another quest, and after a change of the key', () => {
  const wait = sealWork(toBox(7), 'q', WORK, CALLS);
  const refusal = expect.objectContaining({
    ...{ status: 500, message: 'This turn could not be resumed. Please send it again.' },
  });
  expect(() => openWork(toBox(7), { id: 'other', wait } as unknown as QuestRecord)).toThrow(refusal);
  expect(() => openWork(toBox(8), { id: 'q', wait } as unknown as QuestRecord)).toThrow(refusal);
});
