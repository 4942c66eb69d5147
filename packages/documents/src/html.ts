import { TextDecoder } from 'node:util';
import type { ExtractedText } from '@questline/core/ports';
import { Parser } from 'htmlparser2';
import { createDepthCounter, createTextCollector } from './excess.ts';
import type { ReadingLimits } from './limits.ts';

/** Elements whose content is not for readers. */
const SILENT: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'svg']);
/** Elements that begin and end a line. */
const BLOCKS: ReadonlySet<string> = new Set(
  `address article aside blockquote br caption center dd details dialog div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol optgroup option p pre section summary table tr ul`.split(
    /\s+/,
  ),
);
/** Void elements that end a line. */
const EMPTY: ReadonlySet<string> = new Set(['br', 'hr']);
const CELLS: ReadonlySet<string> = new Set(['td', 'th']);
/** Bytes parsed at a time. */
const PIECE_BYTES = 65_536;
/** Characters of the title, and of the list of keywords. */
const MAX_HEAD_CHARACTERS = 10_000;
const META_ENCODING = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i;
const XML_ENCODING = /<\?xml[^>]+encoding\s*=\s*["']([\w-]+)/i;

/** Extracts the visible text and the keywords of a page. */
export function readHtml(bytes: Uint8Array, limits: ReadingLimits): ExtractedText {
  const text = createTextCollector(limits);
  const depth = createDepthCounter();
  let title = '';
  let keywords = '';
  let silence = 0;
  let isTitle = false;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth.open();
        if (name === 'title' && silence === 0) isTitle = true;
        if (name === 'meta' && attributes.name?.toLowerCase() === 'keywords')
          keywords = (attributes.content ?? '').slice(0, MAX_HEAD_CHARACTERS);
        if (SILENT.has(name)) silence += 1;
        if (silence > 0) return;
        if (BLOCKS.has(name)) text.add('\n');
        else if (CELLS.has(name)) text.add(' ');
      },
      ontext(part) {
        if (isTitle) title = `${title}${part}`.slice(0, MAX_HEAD_CHARACTERS);
        else if (silence === 0) text.add(part.replace(/[^\S\n]+/g, ' '));
      },
      onclosetag(name) {
        depth.close();
        if (name === 'title') isTitle = false;
        if (SILENT.has(name)) silence = Math.max(0, silence - 1);
        else if (silence === 0 && BLOCKS.has(name) && !EMPTY.has(name)) text.add('\n');
      },
    },
    { decodeEntities: true },
  );
  const decoder = createDecoder(bytes);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    parser.write(decoder.decode(bytes.subarray(at, at + PIECE_BYTES), { stream: true }));
  }
  parser.write(decoder.decode());
  parser.end();
  const tags = keywords.split(',').map((word) => word.trim());
  return { text: tidy(`${title}\n\n${text.join()}`), tags: tags.filter((tag) => tag !== '') };
}

/** Uses the encoding of the byte order mark, else the one that the first bytes declare, else UTF-8. */
function createDecoder(bytes: Uint8Array): TextDecoder {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  if (head.startsWith('\xff\xfe')) return new TextDecoder('utf-16le');
  if (head.startsWith('\xfe\xff')) return new TextDecoder('utf-16be');
  if (head.startsWith('\xef\xbb\xbf')) return new TextDecoder();
  const [, named] = META_ENCODING.exec(head) ?? XML_ENCODING.exec(head) ?? [];
  try {
    const decoder = new TextDecoder(named);
    // A declaration that is readable as ASCII is not in UTF-16.
    if (!decoder.encoding.startsWith('utf-16')) return decoder;
  } catch {
    // An unknown encoding.
  }
  return new TextDecoder();
}

function tidy(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
