import { describe, expect, it } from 'vitest';
import { createFrameParser, encodeHead, type Task } from '../src/frames.ts';

const message = (body: string): Buffer =>
  Buffer.concat([encodeHead({ format: 'html', size: Buffer.byteLength(body) }), Buffer.from(body)]);
const received = (body: string) => ({
  head: { format: 'html', size: Buffer.byteLength(body) },
  body: Buffer.from(body),
});
/** The beginning of a message whose head has so many bytes. */
const declare = (bytes: number): Buffer => {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes);
  return prefix;
};
const makeParser = (maxBody = 100) => createFrameParser<Task>(maxBody);

describe('messages of a document reader', () => {
  const all = Buffer.concat(['Größe', '', 'x'].map(message));
  const expected = ['Größe', '', 'x'].map(received);

  it.each([1, 2, 3, 5, 7, 50, 1000])('are complete when they arrive in pieces of %i bytes', (bytes) => {
    const parse = makeParser();
    const messages = [];
    for (let at = 0; at < all.length; at += bytes) messages.push(...parse(all.subarray(at, at + bytes)));
    expect(messages).toEqual(expected);
  });

  it('are returned with their last byte', () => {
    const parse = makeParser();
    const bytes = message('abc');
    expect(parse(bytes.subarray(0, -1))).toEqual([]);
    expect(parse(bytes.subarray(-1))).toEqual([received('abc')]);
    expect(parse(message(''))).toEqual([received('')]);
  });

  it('may have a body so long as the limit', () => {
    expect(makeParser(3)(message('abc'))).toEqual([received('abc')]);
    expect(() => makeParser(2)(message('abc'))).toThrow(RangeError);
  });

  it('need the size of their body', () => {
    const head = Buffer.from('{"format":"html"}');
    expect(() => makeParser()(Buffer.concat([declare(head.length), head]))).toThrow(
      'a message that is too long',
    );
  });

  it('may have a head of 65,536 bytes', () => {
    const head = Buffer.from(`{"size":0${' '.repeat(65_526)}}`);
    expect(makeParser()(Buffer.concat([declare(head.length), head]))).toHaveLength(1);
    expect(makeParser()(declare(65_536))).toEqual([]);
    expect(() => makeParser()(declare(65_537))).toThrow('a head that is too long');
  });
});
