import { describe, expect, it } from 'vitest';
import { CARD, ID, OTHER_CARD, openProgress } from '../../test/progress-writer.ts';

describe('text of a run', () => {
  it('is stored half a second after it began, then at growing intervals of at most 5 seconds', async () => {
    const { clock, writer, readText } = await openProgress();
    const start = clock.now();
    const writes: number[] = [];
    let stored = 0;
    for (let at = 0; at < 400; at += 1) {
      writer.append('x');
      await clock.advance(50);
      const { length } = await readText();
      if (length > stored) writes.push(clock.now() - start);
      stored = length;
    }
    expect(writes).toEqual([500, 1000, 2000, 4000, 8000, 13_000, 18_000]);
  });

  it('is stored each half second while a reader follows', async () => {
    const { followers, speak, readText } = await openProgress();
    await speak(100);
    followers.isFollowed = () => true;
    await speak(5);
    const { length } = await readText();
    await speak(4);
    expect(await readText()).toHaveLength(length);
    await speak(1);
    expect(await readText()).toHaveLength(length + 5);
  });

  it('is stored half a second after a reader comes', async () => {
    const { clock, writer, followers, speak, readText } = await openProgress();
    await speak(100);
    expect((await readText()).length).toBeLessThan(90);
    followers.isFollowed = () => true;
    writer.arm();
    expect(clock.pending).toBe(1);
    await clock.advance(499);
    expect((await readText()).length).toBeLessThan(90);
    await clock.advance(1);
    expect(await readText()).toHaveLength(100);
  });

  it('goes on from the text of the run before', async () => {
    const { clock, writer, read } = await openProgress({ quest: { text: 'Hello', toolPayloads: [CARD] } });
    expect([writer.text(), writer.toolPayloads()]).toEqual(['Hello', [CARD]]);
    writer.append(', you');
    await clock.advance(500);
    expect(await read()).toMatchObject({ text: 'Hello, you', toolPayloads: [CARD], notes: {} });
  });

  it('is announced to readers as it comes', async () => {
    const { writer, events } = await openProgress();
    writer.append('a');
    writer.append('');
    expect([events, writer.text()]).toEqual([[{ type: 'text', text: 'a' }], 'a']);
  });

  it('is stored beside the record, and moved into it before there are more than 100 pieces', async () => {
    const { clock, writer, followers, read, countPieces } = await openProgress();
    followers.isFollowed = () => true;
    expect(writer.removals()).toEqual([]);
    for (let at = 0; at <= 101; at += 1) {
      writer.append('x');
      await clock.advance(500);
      expect(await countPieces()).toBe(at < 101 ? at : 0);
      if (at === 50) expect([(await read()).text, writer.removals().length]).toEqual(['x', 1]);
    }
    expect((await read()).text).toBe('x'.repeat(102));
    expect(writer.removals()).toEqual([]);
  });

  it('is never cut within a character', async () => {
    const { clock, writer, followers, texts, read } = await openProgress();
    followers.isFollowed = () => true;
    writer.append('a');
    await clock.advance(500);
    writer.append('b\u{d83d}');
    await clock.advance(500);
    expect(await texts.find({})).toMatchObject([{ offset: 1, text: 'b' }]);
    writer.append('\u{de00}');
    await clock.advance(500);
    expect(await texts.find({})).toMatchObject([{ text: 'b' }, { offset: 2, text: '\u{1f600}' }]);
    expect(await writer.save()).toBe(true);
    expect((await read()).text).toBe('ab\u{1f600}');
  });
});

describe('payloads of a run', () => {
  it('are stored also before there is any text', async () => {
    const { clock, writer, read } = await openProgress();
    writer.show(CARD);
    await clock.advance(500);
    expect((await read()).toolPayloads).toEqual([CARD]);
  });

  it('are stored in the record after half a second, also when they change', async () => {
    const { clock, writer, events, speak, read } = await openProgress();
    await speak(100);
    const replace = writer.show(CARD);
    await clock.advance(500);
    expect((await read()).toolPayloads).toEqual([CARD]);
    replace(OTHER_CARD);
    await clock.advance(499);
    expect((await read()).toolPayloads).toEqual([CARD]);
    await clock.advance(1);
    expect(await read()).toMatchObject({ toolPayloads: [OTHER_CARD], text: 'x'.repeat(100) });
    expect(events.slice(-2)).toEqual([
      { type: 'payload', index: 0, payload: CARD },
      { type: 'payload', index: 0, payload: OTHER_CARD },
    ]);
    writer.show(CARD);
    expect(events.at(-1)).toEqual({ type: 'payload', index: 1, payload: CARD });
  });
});

describe('record of a run', () => {
  it('is written at once when the run asks, with the running steps, and keeps its notes', async () => {
    const { clock, writer, setSteps, read } = await openProgress();
    writer.append('a');
    expect(await writer.save({ notes: { due: [{ key: 'k' }] as never }, answer: 'A' })).toBe(true);
    expect(await read()).toMatchObject({ text: 'a', answer: 'A', notes: { due: [{ key: 'k' }] } });
    expect((await read()).notes).not.toHaveProperty('steps');
    expect([(await read()).updatedAt, clock.pending]).toEqual([clock.now(), 0]);
    setSteps([{ key: 'step' }]);
    expect(await writer.save()).toBe(true);
    expect((await read()).notes).toEqual({ due: [{ key: 'k' }], steps: [{ key: 'step' }] });
  });

  it('gets the first text, and half a second of the text after a write', async () => {
    const { clock, writer, read, countPieces, readText } = await openProgress();
    await writer.save();
    writer.append('a');
    await clock.advance(400);
    await writer.save();
    writer.append('b');
    await clock.advance(499);
    expect([await readText(), await countPieces()]).toEqual(['a', 0]);
    await clock.advance(1);
    expect(await readText()).toBe('ab');
    const other = await openProgress();
    await other.writer.save();
    other.writer.append('a');
    await other.clock.advance(500);
    expect([(await other.read()).text, await other.countPieces(), (await read()).text]).toEqual([
      'a',
      0,
      'a',
    ]);
  });

  it('has no empty text or payloads', async () => {
    const { writer, read } = await openProgress();
    await writer.save();
    expect(await read()).not.toHaveProperty('text');
    expect(await read()).not.toHaveProperty('toolPayloads');
  });

  it('is written with a piece when the steps have changed, apart from what they have said', async () => {
    const { clock, writer, followers, setSteps, read, texts } = await openProgress();
    followers.isFollowed = () => true;
    setSteps([{ key: 'one', call: { spoken: 1 } }]);
    writer.append('a');
    await clock.advance(500);
    setSteps([{ key: 'one', call: { spoken: 2 } }]);
    writer.append('b');
    await clock.advance(500);
    expect(await texts.find({})).toMatchObject([{ text: 'b', spoken: { one: 2 } }]);
    expect((await read()).notes?.steps).toMatchObject([{ call: { spoken: 1 } }]);
    setSteps([{ key: 'two', call: { spoken: 1 } }]);
    writer.append('c');
    await clock.advance(500);
    expect([await texts.count({}), (await read()).text]).toEqual([0, 'abc']);
    expect((await read()).notes?.steps).toMatchObject([{ key: 'two' }]);
  });

  it('is shown to the followers with each write', async () => {
    const { clock, writer, followers, seen } = await openProgress();
    followers.isFollowed = () => true;
    await writer.save();
    writer.append('a');
    await clock.advance(500);
    writer.append('b');
    await clock.advance(500);
    writer.show(CARD);
    await clock.advance(500);
    expect(seen.map((quest) => quest?.id)).toEqual([ID, ID, ID, ID]);
  });
});
