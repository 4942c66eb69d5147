import { setImmediate as turn } from 'node:timers/promises';
import { holdsMoreValues } from '../../http/json-size.ts';
import type { DocumentType, TextExtractor } from '../../ports/text-extractor.ts';

const TYPES: ReadonlySet<string> = new Set([
  'text/plain',
  'text/markdown',
  'text/x-markdown',
  'text/csv',
  'text/tab-separated-values',
  'application/json',
]);
/** By file extension, for generic types. */
const ENDINGS: ReadonlySet<string> = new Set(['txt', 'md', 'markdown', 'csv', 'tsv', 'json', 'log']);
const SAYS_NOTHING: ReadonlySet<string> = new Set(['application/octet-stream', '']);
/** JSON with more values is treated as plain text: a file of only commas would grow by a factor of thousands. */
const MAX_VALUES = 300_000;
/** Maximum characters of all lines. */
const MAX_LENGTH = 2 ** 26;
/** Characters before and after the first error of an encoding that decide about the encoding. */
const SAMPLE = 2 ** 19;
/** Values between two yields to the event loop. */
const AT_ONCE = 5000;

/** Extracts text types: plain text, Markdown with its tags, CSV, and JSON with a line for each value. */
export const plainTextExtractor: TextExtractor = {
  reads: ({ mimeType, name }) =>
    TYPES.has(mimeType) || (SAYS_NOTHING.has(mimeType) && ENDINGS.has(getEnding(name))),
  async extract(bytes, type) {
    const text = decode(bytes);
    if (type.mimeType === 'application/json' || getEnding(type.name) === 'json')
      return { text: (await linesOfJson(text)) ?? text };
    return isMarkdown(type) ? readMarkdown(text) : { text };
  },
};

function getEnding(name: string): string {
  return name.includes('.') ? (name.split('.').at(-1)?.toLowerCase() ?? '') : '';
}

function isMarkdown({ mimeType, name }: DocumentType): boolean {
  return mimeType.endsWith('markdown') || ['md', 'markdown'].includes(getEnding(name));
}

function decode(bytes: Uint8Array): string {
  return decodeBytes(bytes).replaceAll('\0', '').replaceAll('\r\n', '\n');
}

/** Decodes by the byte order mark, else UTF-8, or windows-1252, in which spreadsheets write text, where that fits better. */
function decodeBytes(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  const text = new TextDecoder().decode(bytes);
  return hasMoreErrors(text) ? new TextDecoder('windows-1252').decode(bytes) : text;
}

/** Whether decoding replaced more bytes than it found characters beyond ASCII, around the first replacement. */
function hasMoreErrors(text: string): boolean {
  const first = text.indexOf('\ufffd');
  if (first < 0) return false;
  let balance = 0;
  for (let at = Math.max(0, first - SAMPLE); at < Math.min(text.length, first + SAMPLE); at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x7f) balance += code === 0xfffd ? 1 : -1;
  }
  return balance > 0;
}

/** Reads the tags of the front matter: the block between two lines of hyphens at the beginning. */
function readMarkdown(text: string): { text: string; tags: string[] } {
  const block = /^---\n([\s\S]*?)\n---(?:\n|$)/.exec(text);
  if (block === null) return { text, tags: [] };
  const [whole, head = ''] = block;
  const [, inline = '', list = ''] = /^tags:[ \t]*(.*)((?:\n[ \t]*-[ \t].*)*)/m.exec(head) ?? [];
  const tags = `${inline.replace(/^\[|\]$/g, '')}\n${list.replaceAll(/^[ \t]*-[ \t]/gm, '')}`
    .split(/[,\n]/)
    .map((tag) => tag.trim().replace(/^(["'])(.*)\1$/, '$2'));
  return { text: text.slice(whole.length), tags: tags.filter((tag) => tag !== '') };
}

/** Writes a line for each value, after its path. @returns undefined for invalid JSON, or text that exceeds the limit. */
async function linesOfJson(text: string): Promise<string | undefined> {
  if (holdsMoreValues(Buffer.from(text), MAX_VALUES)) return undefined;
  const whole = parsed(text);
  if (whole === undefined) return undefined;
  const lines: string[] = [];
  let length = 0;
  let looks = 0;
  const pending: { path: string; value: unknown }[] = [{ path: '', value: whole.value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { path, value } = next;
    if (typeof value !== 'object' || value === null) {
      const line = path === '' ? String(value) : `${path}: ${value}`;
      length += line.length;
      // A long name is repeated in front of every value below it.
      if (length > MAX_LENGTH) return undefined;
      lines.push(line);
    } else {
      for (const [key, member] of Object.entries(value).reverse())
        pending.push({ path: path === '' ? key : `${path}.${key}`, value: member as unknown });
    }
    looks += 1;
    if (looks % AT_ONCE === 0) await turn();
  }
  return lines.join('\n');
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
