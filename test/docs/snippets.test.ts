import { describe, expect, it } from 'vitest';
import { compile, getPages, getSnippets } from './snippets.ts';

const snippets = getPages().flatMap(getSnippets);

describe('code in the documentation', () => {
  it('is marked as TypeScript', () => {
    const others = snippets.filter(({ language }) => ['js', 'javascript', 'typescript'].includes(language));
    expect(others.map(({ place }) => place)).toEqual([]);
  });

  it('compiles in strict mode', { timeout: 300_000 }, () => {
    const code = snippets.filter(({ language }) => language === 'ts' || language === 'tsx');
    expect(code.length).toBeGreaterThan(50);
    expect(compile(code)).toEqual([]);
  });

  it('fails the check when it does not compile', { timeout: 300_000 }, () => {
    const wrong = {
      place: 'a page (1)',
      language: 'ts',
      code: 'createServices(ports, { jwtSecret: undefined });',
    };
    expect(compile([wrong]).join()).toContain('a page (1)');
  });
});
