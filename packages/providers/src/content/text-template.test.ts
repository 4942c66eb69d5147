import { describe, expect, it } from 'vitest';
import { TextTemplate } from './text-template.ts';

/** Learns the first event, and reads the others. */
function read(first: string, text: string, ...others: string[]): (string | undefined)[] {
  const template = new TextTemplate('text');
  template.learn(first, text);
  return others.map((event) => template.read(event));
}

const event = (text: string, more = ''): string => `{"id":1,"delta":{"text":"${text}"}${more}}`;
const padded = (text: string, padding: string, more = ''): string =>
  event(text, `,"obfuscation":"${padding}"${more}`);

describe('template of text events', () => {
  it('reads the text of events of the learned shape, of any length', () => {
    expect(read(event('a'), 'a', event('a'), event('b c'), event('👩'), event('{}:,'))).toEqual([
      'a',
      'b c',
      '👩',
      '{}:,',
    ]);
    expect(read(event('abc'), 'abc', event('d'))).toEqual(['d']);
  });

  it('reads the text of events with padding of another length', () => {
    const more = ',"n":1';
    const events = [padded('b', '', more), padded('bcd', 'zzzz', more), padded('b', 'x', more)];
    expect(read(padded('abc', 'xyz', more), 'abc', ...events)).toEqual(['b', 'bcd', 'b']);
    expect(read(padded('a', 'xyz'), 'a', padded('b', 'z'))).toEqual(['b']);
  });

  it.each<[string, string]>([
    ['another begin', event('b').replace('"id":1', '"id":2')],
    ['another end', event('b', ',"n":1')],
    ['a text that ends early', event('b","n":"c')],
    ['an escape', event('\\n')],
    ['a raw line end', event('\n')],
    ['no text', event('')],
    ['half of an event', event('b').slice(0, -1)],
    ['the begin alone', event('b').slice(0, 20)],
  ])('leaves an event with %s to the parser', (_title, other) => {
    expect(read(event('a'), 'a', other)).toEqual([undefined]);
  });

  it.each<[string, string]>([
    ['no padding', event('b', ',"n":1')],
    ['another end', padded('b', 'z', ',"n":2')],
    ['an escape in its padding', padded('b', '\\n', ',"n":1')],
    ['other padding', event('b', ',"obfuscated":"z","n":1')],
  ])('leaves a padded event with %s to the parser', (_title, other) => {
    expect(read(padded('a', 'xyz', ',"n":1'), 'a', other)).toEqual([undefined]);
  });

  it.each<[string, string, string]>([
    ['without the field', '{"id":1,"delta":{"content":"a"}}', 'a'],
    ['with the field twice', event('a', ',"text":"a"'), 'a'],
    ['with an escape', event('a', ',"n":"\\n"'), 'a'],
    ['whose text is elsewhere', event('b', ',"n":"a"'), 'a'],
    ['whose text needs escapes', event('a"b'), 'a"b'],
  ])('learns nothing from an event %s', (_title, first, text) => {
    expect(read(first, text, first, event('a'))).toEqual([undefined, undefined]);
  });

  it('learns at most four shapes, and reads those of the last one', () => {
    const template = new TextTemplate('text');
    expect([template.read(event('a')), template.read('[DONE]')]).toEqual([undefined, undefined]);
    for (const n of [1, 2, 3, 4]) {
      template.learn(event('a', `,"n":${n}`), 'a');
      expect(template.read(event('b', `,"n":${n}`))).toBe('b');
    }
    template.learn(event('a', ',"n":5'), 'a');
    expect(template.read(event('b', ',"n":5'))).toBeUndefined();
    expect(template.read(event('b', ',"n":4'))).toBe('b');
  });
});
