import { expect, it } from 'vitest';
import { ID } from '../../../test/generations.ts';
import { generationEvents } from './events.ts';

const RUNNING = {
  ...{ id: ID, kind: 'video', model: 'director', ownerId: 'ada', state: 'running' },
  payer: { account: 'organization:o', userId: 'ada' },
} as const;
const DATA = { id: ID, kind: 'video', model: 'director', organizationId: 'o', userId: 'ada' };

const announce = (after: object, before: object | undefined = RUNNING) =>
  generationEvents.toEvents({ before, after: { ...RUNNING, ...after } } as never);

it.each([
  ['succeeded', 'done', { file: { id: 'f', mimeType: 'video/mp4' } }, { fileId: 'f' }],
  ['failed', 'failed', { error: { code: 'provider_error', message: 'x' } }, { errorCode: 'provider_error' }],
  ['blocked', 'failed', {}, {}],
  ['cancelled', 'stopped', {}, {}],
])('a generation that is %s is announced as %s', (state, outcome, more, data) => {
  const events = announce({ state, ...more });
  expect(events).toStrictEqual([{ type: `generation.${outcome}`, key: ID, data: { ...DATA, ...data } }]);
  expect(announce({ state, ...more }, { ...RUNNING, state })).toEqual([]);
  expect(generationEvents.matches({ state } as never)).toBe(true);
});

it('a generation that goes on is not announced', () => {
  expect(announce({ state: 'storing' })).toEqual([]);
  expect(
    [{ state: 'storing' }, { progress: 1 }].map((patch) => generationEvents.matches(patch as never)),
  ).toEqual([false, false]);
});
