import type { ModelContent } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { getDigest, restore } from '../src/blocks.ts';

const V = 'vendor.chat';
const META = { vendor: { signature: 's' } };

const text = (said: string): ModelContent => ({ type: 'text', text: said });
const tool = (id: string): ModelContent => ({ type: 'tool_use', id, name: 'f', input: {} });
const block = (fields: object): ModelContent => ({ type: 'thinking', block: fields }) as ModelContent;
const thought = (said: unknown, vendor = V, more: object = {}) =>
  block({ type: 'thinking', thinking: said, vendor, ...more });
const layout = (digested: string, items: unknown, more: object = {}) =>
  block({ type: 'redacted_thinking', vendor: V, digest: getDigest(digested), layout: items, ...more });

/** The restored pieces in short. */
const read = (...content: readonly ModelContent[]) =>
  restore(content, V).map(({ content: piece, providerMetadata }) => {
    const said = piece.type === 'text' ? piece.text : piece.type === 'tool_use' ? piece.id : piece.thinking;
    return providerMetadata === undefined ? `${piece.type} ${said}` : `${piece.type} ${said} signed`;
  });

describe('answer without a layout', () => {
  test('has its pieces in order, without empty text and without blocks of other vendors', () => {
    expect(
      read(
        thought('a', V, { providerMetadata: META }),
        thought('b', 'other.chat'),
        text(''),
        text('c'),
        tool('d'),
        { type: 'image', mediaType: 'image/png', data: '' },
      ),
    ).toEqual(['thinking a signed', 'text c', 'tool_use d']);
  });

  test.each([
    ['without text', thought(undefined)],
    ['whose text is a number', thought(7)],
    ['of another type', block({ type: 'redacted_thinking', thinking: 'a', vendor: V })],
  ])('leaves out a block %s', (_title, piece) => {
    expect(read(piece, text('b'))).toEqual(['text b']);
  });
});

describe('answer with a layout', () => {
  const ITEMS = [
    { type: 'text', length: 1, providerMetadata: META },
    { type: 'thinking' },
    { type: 'tool_use', id: 't', providerMetadata: META },
    { type: 'text', length: 2 },
    { type: 'tool_use', id: 'u' },
  ];

  test('has its pieces where the vendor had them', () => {
    expect(read(thought('x'), layout('abc', ITEMS), text('ab'), text('c'), tool('u'), tool('t'))).toEqual([
      'text a signed',
      'thinking x',
      'tool_use t signed',
      'text bc',
      'tool_use u',
    ]);
  });

  test.each([
    ['its text', ['text abd', 'tool_use t', 'tool_use u'], [thought('x'), text('abd'), tool('t'), tool('u')]],
    [
      'one more call',
      ['text abc', 'tool_use t', 'tool_use u', 'tool_use v'],
      [thought('x'), text('abc'), ...['t', 'u', 'v'].map(tool)],
    ],
    ['a call less', ['text abc', 'tool_use t'], [thought('x'), text('abc'), tool('t')]],
    [
      'one more thought',
      ['text abc', 'tool_use t', 'tool_use u'],
      [thought('x'), thought('y'), text('abc'), tool('t'), tool('u')],
    ],
    ['a thought less', ['text abc', 'tool_use t', 'tool_use u'], [text('abc'), tool('t'), tool('u')]],
  ])('is plain, without thoughts, after a change of %s', (_title, expected, content) => {
    expect(read(layout('abc', ITEMS), ...content)).toEqual(expected);
  });

  test.each([1, 2, 4])('is plain where its items have %i characters instead of 3', (length) => {
    const items = [{ type: 'text', length, providerMetadata: META }];
    expect(read(layout('abc', items), text('abc'))).toEqual(['text abc']);
  });

  const SIGNED = [{ type: 'text', length: 1, providerMetadata: META }];

  test.each([
    ['of another vendor', layout('a', SIGNED, { vendor: 'other.chat' })],
    ['of another type', layout('a', SIGNED, { type: 'other' })],
    ['that is no list', layout('a', 'none')],
    ['with nothing', layout('a', [...SIGNED, null])],
    ['with an unknown item', layout('a', [...SIGNED, { type: 'image' }])],
    ['with a text without a length', layout('a', [...SIGNED, { type: 'text' }])],
    ['with a call without an id', layout('a', [...SIGNED, { type: 'tool_use' }])],
    ['with a call whose id is a number', layout('a', [{ type: 'tool_use', id: 7 }, ...SIGNED])],
  ])('ignores a layout %s', (_title, piece) => {
    expect(read(thought('x'), piece, text('a'))).toEqual(['thinking x', 'text a']);
  });

  test('knows its text by a digest, which stored answers contain', () => {
    expect(getDigest('abc')).toBe('ungWv48Bz-pBQUDe');
  });
});
