import { describe, expect, it } from 'vitest';
import { openWriter, STREAM } from '../../test/live-writer.ts';
import type { NewEvents } from '../ports/event-log.ts';
import { KEEP_AFTER_END_MS } from './live-event.ts';

const FIRST = { isFollowed: () => false, fence: 1 };

/** A writer whose log builds writes. `add` does what the step of a write would. */
function open(more: Parameters<typeof openWriter>[0] = FIRST) {
  const built: NewEvents[] = [];
  const opened = openWriter(more, undefined, (stream, batch) => {
    expect(stream).toBe(STREAM);
    built.push(batch);
    return { do: 'engine', engine: built, work: batch, applied: () => undefined };
  });
  const add = () => opened.memory.append(STREAM, built[0] as NewEvents);
  return { ...opened, built, add };
}

describe('all events of a run as one write', () => {
  it('are those that wait, to be kept after the end', async () => {
    const { writer, built, add, batches, published, compacted, read, say } = open();
    say('Hello');
    say(', you');
    const taken = writer.takeAll();
    expect(built).toEqual([
      { attempt: 1, after: 0, events: [{ type: 'text', text: 'Hello, you' }], keepMs: KEEP_AFTER_END_MS },
    ]);
    await add();
    taken?.end(true);
    expect([writer.last(), published]).toEqual([1, ['1']]);
    await writer.flush();
    await writer.close();
    expect([batches, compacted]).toEqual([[], []]);
    expect(await read()).toEqual([{ type: 'text', text: 'Hello, you' }]);
  });

  it('are left to a flush when their step has no effect', async () => {
    const { writer, read, published, say } = open();
    say('Hello');
    writer.takeAll()?.end(false);
    expect([writer.last(), published]).toEqual([0, []]);
    say(', you');
    await writer.flush();
    expect(await read()).toEqual([
      { type: 'text', text: 'Hello' },
      { type: 'text', text: ', you' },
    ]);
  });

  it('are added once when the answer of their step was lost', async () => {
    const { writer, add, read, say } = open();
    say('Hello');
    const taken = writer.takeAll();
    await add();
    taken?.end(false);
    await writer.flush();
    expect([writer.last(), await read()]).toEqual([1, [{ type: 'text', text: 'Hello' }]]);
  });

  it('are not written by a reader who comes during their step', async () => {
    const { writer, add, batches, read, say } = open();
    say('Hello');
    const taken = writer.takeAll();
    let hasCaughtUp = false;
    const catching = writer.catchUp().then(() => {
      hasCaughtUp = true;
    });
    await add();
    expect(hasCaughtUp).toBe(false);
    taken?.end(true);
    await catching;
    expect([batches, (await read())?.length]).toEqual([[], 1]);
  });

  it('need no timer of a batch', async () => {
    const { writer, clock, add, batches, say } = open({ ...FIRST, isFollowed: () => true });
    say('Hello');
    expect(clock.pending).toBe(1);
    const taken = writer.takeAll();
    expect(clock.pending).toBe(0);
    await add();
    taken?.end(true);
    await clock.advance(1000);
    expect(batches).toEqual([]);
  });

  it('are none where a flush must write them', async () => {
    const none = open();
    expect(none.writer.takeAll()).toBeUndefined();

    const continued = open({ ...FIRST, after: 3 });
    continued.say('Hello');
    expect(continued.writer.takeAll()).toBeUndefined();

    const many = open();
    for (let at = 0; at < 1001; at += 1) many.writer.emit({ type: 'step', iteration: at });
    expect(many.writer.takeAll()).toBeUndefined();

    const begun = open();
    begun.say('Hello');
    const catching = begun.writer.catchUp();
    begun.say(', you');
    expect(begun.writer.takeAll()).toBeUndefined();
    await catching;
    expect(begun.writer.takeAll()).toBeUndefined();

    const { writer, say } = openWriter(FIRST);
    say('Hello');
    expect(writer.takeAll()).toBeUndefined();
  });
});
