import { expect, it } from 'vitest';
import { fileEvents } from './events.ts';

const FILE = { id: 'a'.repeat(24), ownerId: 'ada', status: 'scanning' } as const;

const announce = (status: string, before: object | undefined = FILE) =>
  fileEvents.toEvents({ before, after: { ...FILE, status } } as never);

it.each(['clean', 'blocked'])('a file that is %s is announced once', (status) => {
  expect(announce(status)).toEqual([{ type: `file.${status}`, data: { id: FILE.id, userId: 'ada' } }]);
  expect(announce(status, { ...FILE, status })).toEqual([]);
  expect(fileEvents.matches({ status } as never)).toBe(true);
});

it('a file that is not checked yet is not announced', () => {
  expect([announce('scanning', { ...FILE, status: 'pending' }), announce('pending', FILE)]).toEqual([[], []]);
  expect([{ status: 'scanning' }, { name: 'b' }].map((patch) => fileEvents.matches(patch as never))).toEqual([
    false,
    false,
  ]);
});
