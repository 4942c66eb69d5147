import { expect, it } from 'vitest';
import { attachmentTimes } from './attachment-times.ts';
import type { SessionRecord } from './records.ts';

const session = {
  agentIds: ['a', 'b'],
  agentsAttachedAt: { a: 5, gone: 6 },
  firstCreated: 1,
} as unknown as SessionRecord;

it('keeps the time of agents that stay, and gives others the present one', () => {
  expect(attachmentTimes(session, ['c', 'b', 'a', 'gone'], 9)).toEqual({
    agentsAttachedAt: { a: 5, b: 1, c: 9, gone: 9 },
  });
  expect(attachmentTimes({ firstCreated: 1 } as SessionRecord, ['a'], 9)).toEqual({
    agentsAttachedAt: { a: 9 },
  });
});

it('changes no time without a list of agents', () => {
  expect(attachmentTimes(session, undefined, 9)).toEqual({});
});
