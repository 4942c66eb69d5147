import type { ExtractedText } from '@questline/core';
import { Parser } from 'htmlparser2';

/** What stands in these is not for readers. */
const SILENT: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head']);
/** A new line begins with them and behind them. */
const BLOCKS: ReadonlySet<string> = new Set(
  `address article aside blockquote br dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav
  ol p pre section table tr ul`.split(/\s+/),
);
/** They hold nothing, so one line ends with them. */
const EMPTY: ReadonlySet<string> = new Set(['br', 'hr']);
const CELLS: ReadonlySet<string> = new Set(['td', 'th']);

/** What a reader sees of a page, and the keywords it names. */
export function textOfHtml(bytes: Uint8Array): ExtractedText {
  let text = '';
  let title = '';
  let keywords = '';
  let silence = 0;
  let isTitle = false;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (name === 'title') isTitle = true;
        if (name === 'meta' && attributes.name?.toLowerCase() === 'keywords')
          keywords = attributes.content ?? '';
        if (SILENT.has(name)) silence += 1;
        else if (BLOCKS.has(name)) text += '\n';
        else if (CELLS.has(name)) text += ' ';
      },
      ontext(part) {
        if (isTitle) title += part;
        else if (silence === 0) text += part;
      },
      onclosetag(name) {
        if (name === 'title') isTitle = false;
        if (SILENT.has(name)) silence = Math.max(0, silence - 1);
        else if (BLOCKS.has(name) && !EMPTY.has(name)) text += '\n';
      },
    },
    { decodeEntities: true },
  );
  parser.write(decode(bytes));
  parser.end();
  const tags = keywords.split(',').map((word) => word.trim());
  return { text: tidy(`${title}\n\n${text}`), tags: tags.filter((tag) => tag !== '') };
}

/** In the encoding the page names in its first bytes, else UTF-8. */
function decode(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  const named = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(named).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function tidy(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
