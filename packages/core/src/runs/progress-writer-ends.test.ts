import { describe, expect, it } from 'vitest';
import { CARD, ID, openProgress } from '../../test/progress-writer.ts';

describe('worker that may no longer write', () => {
  it.each(['record', 'piece', 'payload', 'look'])('learns it with its next write: %s', async (kind) => {
    const { clock, quests, writer, followers, lost, readText, seen } = await openProgress();
    followers.isFollowed = () => true;
    writer.append('a');
    await writer.save();
    await quests.update(ID, { fence: 3 });
    seen.splice(0);
    if (kind === 'record') expect(await writer.save()).toBe(false);
    if (kind === 'piece') writer.append('b');
    if (kind === 'payload') writer.show(CARD);
    if (kind === 'look') writer.arm();
    await clock.advance(500);
    expect(lost.count).toBe(1);
    expect(await readText()).toBe('a');
    expect(seen).toEqual(kind === 'look' ? [undefined] : []);
  });

  it('learns it when it moves its pieces into the record', async () => {
    const { clock, quests, writer, followers, lost, read, countPieces } = await openProgress();
    followers.isFollowed = () => true;
    for (const text of ['a', 'b']) {
      writer.append(text);
      await clock.advance(500);
    }
    await quests.update(ID, { fence: 3 });
    expect(await writer.save()).toBe(false);
    expect([lost.count, (await read()).text, await countPieces()]).toEqual([1, 'a', 1]);
  });
});

describe('worker that looks for readers', () => {
  it('reads its quest each second while it works, without a write', async () => {
    const { clock, quests, writer, seen, speak } = await openProgress({ lookEveryMs: 1000 });
    await speak(100);
    seen.splice(0);
    await quests.update(ID, { followedAt: 1 });
    const before = await quests.get(ID);
    for (let at = 0; at < 20; at += 1) {
      writer.append('');
      await clock.advance(100);
    }
    expect(seen.length).toBeGreaterThanOrEqual(1);
    expect(seen[0]).toEqual(before);
    expect(await quests.get(ID)).toMatchObject({ updatedAt: before?.updatedAt });
    seen.splice(0);
    await speak(30);
    expect(seen.length).toBeGreaterThanOrEqual(2);
  });
});

describe('worker that looks for readers between two writes', () => {
  it('reads its quest each second, and writes when it is due', async () => {
    const { clock, writer, seen, countPieces } = await openProgress({ lookEveryMs: 1000 });
    writer.append('a');
    await clock.advance(60_000);
    seen.splice(0);
    writer.append('b');
    for (let second = 1; second <= 4; second += 1) {
      await clock.advance(1000);
      expect([seen.length, await countPieces(), clock.pending]).toEqual([second, 0, 1]);
    }
    await clock.advance(1000);
    expect([seen.length, await countPieces(), clock.pending]).toEqual([5, 1, 0]);
  });
});

describe('last character of a stored text', () => {
  it.each([
    ['\ud7ff', true],
    ['\ud800', false],
    ['\udbff', false],
    ['\udc00', true],
  ])('%j is stored without what follows: %s', async (character, isStored) => {
    const { clock, writer, followers, texts } = await openProgress();
    followers.isFollowed = () => true;
    writer.append('a');
    await clock.advance(500);
    writer.append(`b${character}`);
    await clock.advance(500);
    expect(await texts.find({})).toMatchObject([{ text: isStored ? `b${character}` : 'b' }]);
  });
});

describe('end of a run', () => {
  it('stops the writes', async () => {
    const { clock, writer, readText } = await openProgress();
    writer.append('a');
    await writer.close();
    expect(clock.pending).toBe(0);
    writer.append('b');
    expect(clock.pending).toBe(0);
    await clock.advance(10_000);
    expect([await readText(), writer.text()]).toEqual(['', 'ab']);
  });

  it('waits for the current write', async () => {
    let go = (): void => undefined;
    const { clock, writer, readText } = await openProgress({
      change: (store) => ({
        ...store,
        collection: (definition) => {
          const collection = store.collection(definition);
          return {
            ...collection,
            async update(...args) {
              await new Promise<void>((resolve) => {
                go = resolve;
              });
              return collection.update(...args);
            },
          };
        },
      }),
    });
    writer.append('a');
    await clock.advance(500);
    let isClosed = false;
    const closing = writer.close().then(() => {
      isClosed = true;
    });
    await clock.advance(0);
    expect(isClosed).toBe(false);
    go();
    await closing;
    expect(await readText()).toBe('a');
  });
});

it('reports a store that fails, and stores the text with the next write', async () => {
  const error = new Error('away');
  let isAway = true;
  const { clock, writer, errors, lost, readText } = await openProgress({
    change: (store) => ({
      ...store,
      collection: (definition) => {
        const collection = store.collection(definition);
        return {
          ...collection,
          update: (...args) => (isAway ? Promise.reject(error) : collection.update(...args)),
        };
      },
    }),
  });
  writer.append('a');
  await clock.advance(500);
  expect([errors, lost.count, await readText()]).toEqual([[error], 0, '']);
  isAway = false;
  writer.append('b');
  await clock.advance(500);
  expect([errors.length, await readText()]).toEqual([1, 'ab']);
});
