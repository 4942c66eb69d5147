import { describe, expect, it } from 'vitest';
import { toResult } from '../src/results.ts';

const contentOf = (...content: readonly unknown[]) => toResult({ content }).content;

describe('the result of a tool server', () => {
  it('is the text of its blocks, a line each, without what is empty', () => {
    expect(
      contentOf(
        { type: 'text', text: 'one' },
        { type: 'text', text: '' },
        { type: 'text', text: 7 },
        { type: 'text' },
        { type: 'text', text: 'two' },
      ),
    ).toBe('one\ntwo');
  });

  it('names resources by their text or address', () => {
    expect(contentOf({ type: 'resource', resource: { uri: 'file://a', text: 'inside' } })).toBe('inside');
    expect(contentOf({ type: 'resource', resource: { uri: 'file://a', blob: 'AAAA' } })).toBe(
      '[resource file://a]',
    );
    expect(contentOf({ type: 'resource', resource: { uri: 'file://a', text: 7 } })).toBe(
      '[resource file://a]',
    );
    expect(contentOf({ type: 'resource' })).toBe('[resource undefined]');
    expect(contentOf({ type: 'resource_link', uri: 'file://b', text: 'unread' })).toBe('[resource file://b]');
  });

  it('names other blocks by their type and media type', () => {
    expect(contentOf({ type: 'audio', mimeType: 'audio/wav', data: 'AAAA' })).toBe('[audio audio/wav]');
    expect(contentOf({ type: 'future' })).toBe('[future undefined]');
  });

  it('is the structured content only without any text', () => {
    const structuredContent = { sum: 3 };
    expect(toResult({ structuredContent }).content).toBe('{"sum":3}');
    expect(toResult({ content: [{ type: 'text', text: '' }], structuredContent }).content).toBe('{"sum":3}');
    expect(toResult({ content: [{ type: 'text', text: '3' }], structuredContent }).content).toBe('3');
  });

  it('is empty without content that is a list', () => {
    expect(toResult({})).toEqual({ content: '', isError: false });
    expect(toResult({ content: 'text' })).toEqual({ content: '', isError: false });
  });

  it('is an error only if the server says so', () => {
    for (const isError of [false, undefined, 'true', 1]) expect(toResult({ isError }).isError).toBe(false);
    expect(toResult({ isError: true }).isError).toBe(true);
  });

  it('is cut above 100,000 characters', () => {
    const whole = `${'x'.repeat(99_999)}y`;
    expect(contentOf({ type: 'text', text: whole })).toBe(whole);
    expect(contentOf({ type: 'text', text: `${whole}z` })).toBe(`${whole}\n[cut]`);
  });
});
