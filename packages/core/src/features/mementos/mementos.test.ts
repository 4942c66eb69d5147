import { createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import { buildExtraction, mementosIn } from './extract.ts';
import { keepMementos } from './keep.ts';
import { relevant } from './recall.ts';
import { MAX_MEMENTOS, MEMENTOS, type MementoRecord } from './records.ts';
import { likeness, splitWords } from './words.ts';

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
const recallTexts = (known: readonly MementoRecord[], message: string) =>
  relevant(known, message).map(({ text }) => text);

describe('word comparison', () => {
  it('ignores endings and case, and matches nothing when empty', () => {
    expect(likeness(splitWords('The user likes GARDENING.'), splitWords('She like gardens'))).toBe(1);
    expect(splitWords('What is the user to do with it?').size).toBe(0);
    expect(likeness(splitWords(''), splitWords(''))).toBe(0);
  });

  it('are found where nothing stands between them', () => {
    expect(likeness(splitWords('我住在柏林'), splitWords('柏林的天气'))).toBeGreaterThan(0);
    expect(likeness(splitWords('我住在柏林'), splitWords('巴黎'))).toBe(0);
  });
});

describe('recall of mementos', () => {
  it('returns matching mementos; better matches and rarer words come first', () => {
    const known = [
      memento('The user keeps bees near Oslo.'),
      memento('The user works in Oslo as a baker.'),
      memento('The user plays chess.'),
    ];
    expect(recallTexts(known, 'Where in Oslo can I buy a smoker for my bees?')).toEqual([
      'The user keeps bees near Oslo.',
      'The user works in Oslo as a baker.',
    ]);
    expect(recallTexts(known, 'Hello there')).toEqual([]);
  });

  it('always includes the preferences for answers, within its limits', () => {
    const known = [
      ...Array.from({ length: 7 }, (_, n) => memento(`The user wants style ${n}.`, true)),
      ...Array.from({ length: 20 }, (_, n) => memento(`The user has bee number ${n}.`)),
    ];
    const recalled = recallTexts(known, 'How are the bees?');
    expect(recalled.filter((text) => text.includes('style'))).toHaveLength(5);
    expect(recalled.filter((text) => text.includes('bee '))).toHaveLength(8);
  });
});

describe('extraction output of a model', () => {
  it('is taken out of what it said around it', () => {
    expect(mementosIn('Sure!\n```json\n{"mementos": ["The user\\n bakes."]}\n```')).toEqual([
      { text: 'The user bakes.', isStanding: false },
    ]);
    expect(mementosIn('{"mementos": [{"text": "Short answers, please.", "standing": true}]}')).toEqual([
      { text: 'Short answers, please.', isStanding: true },
    ]);
  });

  it('is empty when it is malformed, empty or too long', () => {
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

  it('is requested for the beginning of a message of any length', () => {
    const [, { content } = { content: [] }] = buildExtraction('😀'.repeat(10_000));
    expect([...JSON.stringify(content)].length).toBeLessThan(6100);
  });
});

describe('storing of mementos', () => {
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

  it('stores equal facts once, in their latest wording', async () => {
    const where = store();
    await keep(where, 1, ['The user lives in Oslo.', 'The user lives in Oslo!', 'The user keeps bees.']);
    await keep(where, 2, ['User lives in Oslo']);
    expect((await all(where)).map(({ text, createdAt, updatedAt }) => [text, createdAt, updatedAt])).toEqual([
      ['The user keeps bees.', 1, 1],
      ['User lives in Oslo', 1, 2],
    ]);
  });

  it('is limited per user: the least recently mentioned memento is deleted', async () => {
    const where = store();
    await keep(where, 1, ['Bread one', 'Cheese two'], 'other');
    for (let n = 0; n <= MAX_MEMENTOS; n += 1) await keep(where, 10 + n, [`Thing${n} ${n}`]);
    const kept = await all(where);
    expect(kept).toHaveLength(MAX_MEMENTOS);
    expect(kept[0]?.text).toBe('Thing1 1');
    expect(await all(where, 'other')).toHaveLength(2);
  });
});
