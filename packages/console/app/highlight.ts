import hljs from 'highlight.js/lib/common';

/** @returns the code as HTML of spans with classes; undefined for an unknown language. The library escapes the code. */
export function highlight(code: string, language: string): string | undefined {
  if (hljs.getLanguage(language) === undefined) return undefined;
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
