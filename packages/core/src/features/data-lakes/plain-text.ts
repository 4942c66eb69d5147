import { setImmediate as turn } from 'node:timers/promises';
import { holdsMoreValues } from '../../http/json-size.ts';
import { type DocumentType, ExtractionError, type TextExtractor } from '../../ports/text-extractor.ts';
import { decodeText, getEnding, isTextFile } from '../files/text-files.ts';

/** JSON with more values is treated as plain text: a file of only commas would grow by a factor of thousands. */
const MAX_VALUES = 300_000;
/** Maximum characters of all lines. */
const MAX_LENGTH = 2 ** 26;
/** Values between two yields to the event loop. */
const AT_ONCE = 5000;

/** Extracts text: as it is, without the front matter of Markdown, whose tags it reads, and JSON with a line for each value. */
export const plainTextExtractor: TextExtractor = {
  reads: isTextFile,
  async extract(bytes, type) {
    const text = decodeText(bytes, type)?.replaceAll('\0', '').replaceAll('\r\n', '\n');
    if (text === undefined) throw new ExtractionError('unreadable', 'it is not text');
    if (type.mimeType === 'application/json' || getEnding(type.name) === 'json')
      return { text: (await linesOfJson(text)) ?? text };
    return isMarkdown(type) ? readMarkdown(text) : { text };
  },
};

function isMarkdown({ mimeType, name }: DocumentType): boolean {
  return mimeType.endsWith('markdown') || ['md', 'markdown'].includes(getEnding(name));
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
