import { describe, expect, it } from 'vitest';
import { frame, openReader, STREAM } from '../../test/live-reader.ts';
import { UNKNOWN_POSITION } from '../contract/live-events.ts';
import { ApiError } from '../shared/errors.ts';
import { EMPTY_STATE } from './live-state.ts';

const VIEW = '{"id":"q1"}';

describe('new reader', () => {
  it('gets a snapshot, each event after it and the end', async () => {
    const one = openReader();
    one.tail.isReady = false;
    await one.start();
    expect(one.writes).toEqual(['begin']);
    one.tail.isReady = true;
    await one.move({ last: 1, text: 'a' });
    await one.move({ last: 3, text: 'abc' }, [frame(2), frame(3)]);
    await one.move({ last: 4, text: 'abcd' }, [frame(4)]);
    one.tail.isOver = true;
    Object.assign(one.record, { text: 'abcd', isOver: true });
    await one.move({});
    expect(one.writes).toEqual(['begin', `snapshot 1 a ${VIEW}`, 'e2 e3', 'e4', `end ${VIEW}`]);
    expect([one.isClosed, one.opened, one.log.reads]).toEqual([[true, 1, 0], [STREAM], []]);
    expect([one.incidents, one.clock.pending]).toEqual([[], 0]);
  });

  it('of work that has ended gets its record', async () => {
    for (const known of ['abc', 'ab']) {
      const one = openReader();
      one.tail.state = { ...EMPTY_STATE, last: 2, text: known };
      one.tail.isOver = true;
      Object.assign(one.record, { text: 'abc', isOver: true });
      await one.start();
      expect(one.writes).toEqual(['begin', `snapshot 2 abc ${VIEW}`, `end ${VIEW}`]);
    }
  });

  it('before the first event gets the text of the record only after a wait or a loss of events', async () => {
    for (const [hasWaited, epoch, text] of [
      [false, 0, ''],
      [true, 0, 'stored'],
      [false, 1, 'stored'],
    ] as const) {
      const one = openReader();
      one.tail.epoch = epoch;
      Object.assign(one.record, { text: 'stored', hasWaited });
      await one.start();
      expect(one.writes[1]).toBe(`snapshot 0 ${text} ${VIEW}`);
      one.control.abort();
    }
    const plain = openReader({ load: async () => ({ view: {}, text: 'stored', isOver: false }) });
    await plain.start();
    expect(plain.writes[1]).toBe('snapshot 0  {}');
    const later = openReader();
    later.tail.state = { ...EMPTY_STATE, last: 1, text: 'a' };
    Object.assign(later.record, { text: 'stored', hasWaited: true });
    await later.start();
    expect(later.writes[1]).toBe(`snapshot 1 a ${VIEW}`);
  });
});

describe('new reader of work in another process', () => {
  /** The record is ahead of the events. */
  const setUpAhead = () => {
    const one = openReader();
    one.tail.isRemote = true;
    one.tail.state = { ...EMPTY_STATE, last: 1, text: 'a' };
    one.record.text = 'abc';
    return one;
  };

  it('gets the stored text without a position, and everything again with the next event', async () => {
    const one = setUpAhead();
    await one.start();
    expect(one.writes).toEqual(['begin', `snapshot ${UNKNOWN_POSITION} abc ${VIEW}`]);
    one.record.text = 'abcdef';
    await one.move({ last: 2, text: 'abcd' }, [frame(2)]);
    await one.move({ last: 3, text: 'abcde' }, [frame(3)]);
    expect(one.writes.slice(2)).toEqual([`snapshot 2 abcd ${VIEW}`, 'e3']);
  });

  it('is kept alive while nothing comes, and loses its rights meanwhile', async () => {
    const one = setUpAhead();
    await one.start();
    await one.clock.advance(14_999);
    expect(one.writes).toHaveLength(2);
    await one.clock.advance(1);
    expect([one.writes.length, one.loads.count]).toEqual([3, 2]);
    one.loads.error = new ApiError(404, 'gone');
    await one.clock.advance(15_000);
    expect([one.isClosed, one.incidents]).toEqual([[true, 1, 0], []]);
  });

  it('loses its rights while events come, too', async () => {
    const one = openReader();
    await one.start();
    await one.move({ last: 1, text: 'a' }, [frame(1)]);
    let last = 1;
    const tick = async () => {
      await one.clock.advance(5000);
      last += 1;
      await one.move({ last, text: 'a'.repeat(last) }, [frame(last)]);
    };
    await tick();
    await tick();
    expect(one.loads.count).toBe(1);
    await tick();
    expect(one.loads.count).toBe(2);
    expect(one.writes.at(-1)).toBe('e4');
    one.loads.error = new ApiError(404, 'gone');
    await tick();
    await tick();
    expect(one.writes.at(-1)).toBe('e6');
    await tick();
    expect(one.writes.at(-1)).toBe('e6');
    expect([one.isClosed, one.incidents]).toEqual([[true, 1, 0], []]);
  });

  it('gets the end when the work ends', async () => {
    const one = setUpAhead();
    await one.start();
    one.tail.isOver = true;
    one.record.isOver = true;
    await one.move({});
    expect(one.writes.slice(2)).toEqual([`snapshot 1 abc ${VIEW}`, `end ${VIEW}`]);
  });

  it.each<[string, (one: ReturnType<typeof openReader>) => void]>([
    ['is in this process', ({ tail }) => void Object.assign(tail, { isRemote: false })],
    ['has lost events', ({ tail }) => void Object.assign(tail, { epoch: 1 })],
    ['has stored no more than its events', ({ record }) => void Object.assign(record, { text: 'a' })],
    ['has stored another text', ({ record }) => void Object.assign(record, { text: 'xbc' })],
    ['has ended since', ({ record }) => void Object.assign(record, { isOver: true })],
  ])('gets the events as they are where the worker %s', async (_name, change) => {
    const one = setUpAhead();
    change(one);
    await one.start();
    expect(one.writes[1]).toBe(`snapshot 1 a ${VIEW}`);
  });
});

describe('reader with a position', () => {
  it('gets the events after it, from the tail or else from the log', async () => {
    const one = openReader({ after: 1 });
    one.tail.state = { ...EMPTY_STATE, last: 4 };
    one.tail.after = (sequence) => (sequence < 3 ? undefined : sequence < 4 ? [frame(4)] : []);
    one.log.page = [
      { sequence: 2, event: { type: 'step' } },
      { sequence: 3, event: { type: 'step' } },
    ];
    await one.start();
    expect(one.writes[1]).toContain('id: 2\n');
    expect(one.writes[1]).toContain('id: 3\n');
    expect([one.writes.slice(2), one.log.reads, one.loads.count]).toEqual([['e4'], [1], 0]);
  });

  it('gets a snapshot where its position is unknown, or void since the log has lost events', async () => {
    const unknown = openReader({ after: 9 });
    unknown.tail.after = (sequence) => (sequence === 0 ? [] : undefined);
    await unknown.start();
    expect([unknown.writes[1], unknown.log.reads]).toEqual([`snapshot 0  ${VIEW}`, [9]]);
    unknown.control.abort();
    const lost = openReader({ after: 1 });
    await lost.start();
    expect(lost.writes).toEqual(['begin']);
    lost.tail.epoch = 1;
    await lost.move({ last: 1, text: 'z' });
    expect(lost.writes[1]).toBe(`snapshot 1 z ${VIEW}`);
    await lost.move({ last: 2, text: 'zz' }, [frame(2)]);
    expect(lost.writes.slice(2)).toEqual(['e2']);
  });

  it('is never shown the stored text ahead of its events', async () => {
    const one = openReader({ after: 9 });
    one.tail.isRemote = true;
    one.tail.after = (sequence) => (sequence === 0 ? [] : undefined);
    one.record.text = 'abc';
    await one.start();
    expect(one.writes[1]).toBe(`snapshot 0  ${VIEW}`);
  });

  it('gets at most 65,536 characters with one write, and at least one event', async () => {
    const one = openReader({ after: 0 });
    const big = 'x'.repeat(65_536);
    await one.start();
    await one.move({ last: 4 }, [frame(1, `${big}y`), frame(2, big.slice(1)), frame(3, 'z'), frame(4)]);
    expect(one.writes.slice(1).map(({ length }) => length)).toEqual([65_537, 65_537, 2]);
  });
});
