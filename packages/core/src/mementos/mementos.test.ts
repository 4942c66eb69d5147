import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { extractionOf, mementosIn } from './extract.ts';
import { keepMementos } from './keep.ts';
import { relevant } from './recall.ts';
import { MEMENTOS, type MementoRecord, MOST_MEMENTOS } from './records.ts';
import { likeness, wordsOf } from './words.ts';

const memento = (text: string, isStanding = false): MementoRecord => ({
  id: text,
  ownerId: 'u',
  text,
  fingerprint: text,
  isStanding,
  sessionId: 's',
  createdAt: 0,
  updatedAt: 0,
});
const told = (known: readonly MementoRecord[], message: string) =>
  relevant(known, message).map(({ text }) => text);

describe('words', () => {
  it('agree whatever their ending and case, and say nothing when they are empty', () => {
    expect(likeness(wordsOf('The user likes GARDENING.'), wordsOf('She like gardens'))).toBe(1);
    expect(wordsOf('What is the user to do with it?').size).toBe(0);
    expect(likeness(wordsOf(''), wordsOf(''))).toBe(0);
  });

  it('are found where nothing stands between them', () => {
    expect(likeness(wordsOf('我住在柏林'), wordsOf('柏林的天气'))).toBeGreaterThan(0);
    expect(likeness(wordsOf('我住在柏林'), wordsOf('巴黎'))).toBe(0);
  });
});

describe('what is recalled', () => {
  it('touches on the message; what fits better and what fewer share comes first', () => {
    const known = [
      memento('The user keeps bees near Oslo.'),
      memento('The user works in Oslo as a baker.'),
      memento('The user plays chess.'),
    ];
    expect(told(known, 'Where in Oslo can I buy a smoker for my bees?')).toEqual([
      'The user keeps bees near Oslo.',
      'The user works in Oslo as a baker.',
    ]);
    expect(told(known, 'Hello there')).toEqual([]);
  });

  it('always holds how the user wants to be answered, and never too much', () => {
    const known = [
      ...Array.from({ length: 7 }, (_, n) => memento(`The user wants style ${n}.`, true)),
      ...Array.from({ length: 20 }, (_, n) => memento(`The user has bee number ${n}.`)),
    ];
    const recalled = told(known, 'How are the bees?');
    expect(recalled.filter((text) => text.includes('style'))).toHaveLength(5);
    expect(recalled.filter((text) => text.includes('bee '))).toHaveLength(8);
  });
});

describe('what a model found', () => {
  it('is taken out of what it said around it', () => {
    expect(mementosIn('Sure!\n```json\n{"mementos": ["The user\\n bakes."]}\n```')).toEqual([
      { text: 'The user bakes.', isStanding: false },
    ]);
    expect(mementosIn('{"mementos": [{"text": "Short answers, please.", "standing": true}]}')).toEqual([
      { text: 'Short answers, please.', isStanding: true },
    ]);
  });

  it('is nothing when it makes no sense, is empty or too long', () => {
    for (const said of [
      '',
      'Nothing.',
      '{"mementos": "none"}',
      '{"mementos": [{"text"',
      '{"mementos": [7]}',
      JSON.stringify({ mementos: ['  ', 'x'.repeat(301)] }),
    ]) {
      expect([said, mementosIn(said)]).toEqual([said, []]);
    }
  });

  it('is read from the beginning of a message, however long that is', () => {
    const [, { content } = { content: [] }] = extractionOf('😀'.repeat(10_000));
    expect([...JSON.stringify(content)].length).toBeLessThan(6100);
  });
});

describe('keeping', () => {
  const store = () => createMemoryStore();
  const keep = async (
    where: ReturnType<typeof store>,
    now: number,
    texts: readonly string[],
    ownerId = 'u',
  ) =>
    keepMementos(
      { ids: createFakeIds(now) },
      where,
      { ownerId, sessionId: 's', now },
      texts.map((text) => ({ text, isStanding: false })),
    );
  const all = async (where: ReturnType<typeof store>, ownerId = 'u') =>
    where.collection(MEMENTOS).find({ ownerId }, { order: { field: 'updatedAt', direction: 'asc' } });

  it('holds each thing once, in the words it was said in last', async () => {
    const where = store();
    await keep(where, 1, ['The user lives in Oslo.', 'The user lives in Oslo!', 'The user keeps bees.']);
    await keep(where, 2, ['User lives in Oslo']);
    expect((await all(where)).map(({ text, createdAt, updatedAt }) => [text, createdAt, updatedAt])).toEqual([
      ['The user keeps bees.', 1, 1],
      ['User lives in Oslo', 1, 2],
    ]);
  });

  it('is bounded for each user: what was not said for the longest time goes', async () => {
    const where = store();
    await keep(where, 1, ['Bread one', 'Cheese two'], 'other');
    for (let n = 0; n <= MOST_MEMENTOS; n += 1) await keep(where, 10 + n, [`Thing${n} ${n}`]);
    const kept = await all(where);
    expect(kept).toHaveLength(MOST_MEMENTOS);
    expect(kept[0]?.text).toBe('Thing1 1');
    expect(await all(where, 'other')).toHaveLength(2);
  });
});
