import { describe, expect, it } from 'vitest';
import type { SessionRecord } from './records.ts';
import { firstCharacters, nameFromMessage, nameOfCopy, toWireSession } from './sessions.ts';

describe('firstCharacters', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['', 3, ''],
    ['😀😀', 3, '😀😀'],
    ['😀😀😀', 3, '😀😀😀'],
    ['😀😀😀😀', 3, '😀😀😀'],
    ['a😀b😀c', 3, 'a😀b'],
    ['ab😀cd', 3, 'ab😀'],
  ])('returns of %j at most %i code points', (text, most, expected) => {
    expect(firstCharacters(text, most)).toBe(expected);
  });
});

describe('name of a session', () => {
  it('is the beginning of its first message', () => {
    expect(nameFromMessage('Hi there')).toBe('Hi there');
    expect(nameFromMessage('x'.repeat(61))).toBe('x'.repeat(60));
    for (const empty of ['', '  ', '\n\t ', ' '.repeat(70)])
      expect(nameFromMessage(empty)).toBe('New session');
  });

  it('of a copy fits into the maximum of 255', () => {
    expect(nameOfCopy('Notes')).toBe('Notes (copy)');
    expect(nameOfCopy('x'.repeat(255))).toBe(`${'x'.repeat(248)} (copy)`);
    expect([...nameOfCopy('😀'.repeat(255))]).toHaveLength(255);
  });
});

it('shows the summary, the project and the model of a session that has them', () => {
  const plain = { id: 's', ownerId: 'o', name: 'n', firstCreated: 0, lastUpdated: 1 } as SessionRecord;
  expect(toWireSession(plain)).toMatchObject({ projectId: null, lastUsedModel: null });
  expect(toWireSession(plain)).not.toHaveProperty('summary');
  const more = { summary: 'Bees.', projectId: 'p', lastUsedModel: 'm' };
  expect(toWireSession({ ...plain, ...more })).toMatchObject(more);
});
