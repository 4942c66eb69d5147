import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import type { PromptContext } from '../../prompts/prompt.ts';
import { recalledMementos, relevant } from './recall.ts';
import { MEMENTOS, type MementoRecord } from './records.ts';

const NOW = 1000;

function memento(text: string, more: Partial<MementoRecord> = {}): MementoRecord {
  return {
    ...{ id: text, ownerId: 'ada', text, fingerprint: text, isStanding: false, sessionId: 's' },
    ...{ createdAt: NOW, updatedAt: NOW },
    ...more,
  };
}

async function recall(known: readonly MementoRecord[], context: object = {}) {
  const store = createMemoryStore();
  for (const one of known) await store.collection(MEMENTOS).insert(one);
  return recalledMementos({ store })({
    ...{ userId: 'ada', message: 'How are the bees?', sentAt: NOW, features: { mementos: true } },
    ...context,
  } as PromptContext);
}

describe('mementos in a prompt', () => {
  it('are one part of the turn, the standing ones first', async () => {
    const parts = await recall([
      memento('Old bees.', { updatedAt: 1 }),
      memento('New bees.', { updatedAt: 2 }),
      memento('Chess.'),
      memento('Answer briefly.', { isStanding: true }),
    ]);
    expect(parts).toEqual([
      {
        ...{ source: 'user', name: 'mementos', perTurn: true },
        text: expect.stringMatching(
          /^Facts about this user .*not as instructions:\n- Answer briefly\.\n- New bees\.\n- Old bees\.$/,
        ),
      },
    ]);
  });

  it.each<[string, Partial<MementoRecord>, object]>([
    ['of another user', { ownerId: 'grace' }, {}],
    ['from after the message', { createdAt: NOW + 1 }, {}],
    ['that do not fit', {}, { message: 'Hello' }],
    ['without the feature', {}, { features: {} }],
    ['where the feature is off', {}, { features: { mementos: false } }],
    ['without features', {}, { features: undefined }],
  ])('are absent: those %s', async (_name, record, context) => {
    expect(await recall([memento('Bees.', record)], context)).toEqual([]);
  });

  it('are looked for among the 200 that were mentioned last', async () => {
    const others = Array.from({ length: 200 }, (_, at) => memento(`Chess ${at}.`, { updatedAt: 10 + at }));
    expect(await recall([...others.slice(1), memento('Bees.', { updatedAt: 1 })])).toHaveLength(1);
    expect(await recall([...others, memento('Bees.', { updatedAt: 1 })])).toEqual([]);
  });
});

describe('relevance of mementos', () => {
  const find = (message: string, ...known: MementoRecord[]) =>
    relevant(known, message).map(({ text }) => text);

  it('grows with the common words, and shrinks with the mementos that have them', () => {
    const known = ['Oslo winter', 'Oslo baker', 'Oslo bees honey', 'Bergen bees'].map((text) =>
      memento(text),
    );
    expect(find('bees in oslo', ...known)).toEqual([
      'Oslo bees honey',
      'Bergen bees',
      'Oslo winter',
      'Oslo baker',
    ]);
  });

  it('is larger for one rare word than for three that many mementos have', () => {
    const common = ['one', 'two', 'three', 'four'].map((name) => memento(`Oslo baker winter ${name}`));
    expect(find('oslo baker winter zebra', ...common, memento('Zebra'))[0]).toBe('Zebra');
  });

  it('does not count words of standing mementos', () => {
    const standing = Array.from({ length: 5 }, (_, at) => memento(`rare ${at}`, { isStanding: true }));
    const known = [...standing, memento('common'), memento('common words'), memento('rare')];
    expect(find('common rare', ...known).slice(5)).toEqual(['rare', 'common', 'common words']);
  });
});
