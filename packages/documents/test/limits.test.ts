import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTextCollector } from '../src/excess.ts';
import { describeExcess, type Excess, getDefaultMemory } from '../src/limits.ts';

const MIB = 2 ** 20;
const LIMITS = {
  maxPages: 7,
  maxDecodedBytes: 3 * MIB + 10,
  maxTextBytes: MIB - 1,
  maxMs: 1500,
  maxMemoryBytes: MIB,
};

describe('limits of a document', () => {
  it.each<[Excess, string]>([
    ['pages', 'it has more than 7 pages'],
    ['depth', 'its parts are nested too deep'],
    ['decoded', 'it unpacks to more than 3 MiB'],
    ['text', 'it has more than 1048575 bytes of text'],
    ['time', 'it takes longer than 1.5 s to read'],
    ['memory', 'it takes more than 1 MiB of memory to read'],
    ['crash', 'it ends the process that reads it'],
  ])('are named in the message to the user: %s', (excess, message) => {
    expect(describeExcess(excess, LIMITS)).toBe(message);
  });

  it.each([
    [100, 192],
    [800, 200],
    [1002, 250.5],
    [1_000_000_000, 512],
    [0, 512],
  ])('are a quarter of the memory of a container of %i MiB: %i MiB', (container, limit) => {
    const memory = vi.spyOn(process, 'constrainedMemory').mockReturnValue(container * MIB);
    onTestFinished(() => memory.mockRestore());
    expect(getDefaultMemory()).toBe(limit * MIB);
  });
});

describe('text of a document', () => {
  it('is collected from pieces of any size', () => {
    const pieces = ['ö'.repeat(10), 'a'.repeat(65_516), 'b', 'c'.repeat(1_000_000), '', '😀'];
    const text = createTextCollector({ maxTextBytes: 2 ** 21 });
    for (const piece of pieces) text.add(piece);
    expect(text.join()).toBe(pieces.join(''));
  });

  it('may have so many bytes as the limit, also after one that did not fit', () => {
    const text = createTextCollector({ maxTextBytes: 5 });
    text.add('abc');
    expect(() => text.add('öa')).toThrow(expect.objectContaining({ name: 'ExcessError', excess: 'text' }));
    text.add('ö');
    expect(text.join()).toBe('abcö');
    expect(() => text.add('a')).toThrow('a document exceeds its limit: text');
  });
});
