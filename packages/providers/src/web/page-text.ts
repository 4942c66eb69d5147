const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/**
 * What a reader sees of an HTML page, as far as a model needs it: text with line breaks where blocks end. Strangers write
 * pages: what never ends is taken to the end of the page at once, not looked for again from its every beginning.
 */
export function textOfHtml(html: string): { readonly title: string | null; readonly text: string } {
  const title = /<title[^<>]*>([^<]*)<\/title>/i.exec(html)?.[1];
  const text = html
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .replace(/<(script|style|noscript|template|svg|head)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, '')
    .replace(
      /<(?:br|\/p|\/div|\/li|\/tr|\/h[1-6]|\/section|\/article|\/blockquote|\/pre)\b[^>]*(?:>|$)/gi,
      '\n',
    )
    .replace(/<(?=[a-z/!?])[^>]*(?:>|$)/gi, ' ');
  return { title: title === undefined ? null : tidy(title), text: tidy(text) };
}

function tidy(text: string): string {
  return decodeEntities(text)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '';
  });
}
