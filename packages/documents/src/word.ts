import { TextDecoder } from 'node:util';
import { Parser } from 'htmlparser2';
import { createDepthCounter, createTextCollector } from './excess.ts';
import type { ReadingLimits } from './limits.ts';
import { type Archive, openArchive } from './zip.ts';

const DEFAULT_PART = 'word/document.xml';
/** Maximum characters of the relations part. */
const MAX_RELATIONS = 2 ** 20;
/** Elements whose text is not visible: deleted, moved, or a fallback for older programs. */
const HIDDEN: ReadonlySet<string> = new Set(['w:del', 'w:moveFrom', 'mc:Choice']);
/** The text of empty elements. */
const SIGNS: ReadonlyMap<string, string> = new Map([
  ['w:tab', '\t'],
  ['w:br', '\n'],
  ['w:cr', '\n'],
  ['w:noBreakHyphen', '\u2011'],
]);

/** Reads a docx file paragraph by paragraph, without a tree: a tree can need a thousand times the file's size. */
export async function readWord(bytes: Uint8Array<ArrayBuffer>, limits: ReadingLimits): Promise<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const archive = openArchive(buffer, limits.maxDecodedBytes);
  const text = createTextCollector(limits);
  const depth = createDepthCounter();
  let hidden = 0;
  let shown = 0;
  /** Tabs in the properties of a paragraph are stops, not characters. */
  let properties = 0;
  const parser = new Parser(
    {
      onopentagname(name) {
        depth.open();
        if (HIDDEN.has(name)) hidden += 1;
        else if (name === 'w:pPr') properties += 1;
        else if (name === 'w:t') shown += 1;
        const sign = SIGNS.get(name);
        if (sign !== undefined && hidden + properties === 0) text.add(sign);
      },
      ontext(part) {
        if (shown > 0 && hidden === 0) text.add(part);
      },
      onclosetag(name) {
        depth.close();
        if (HIDDEN.has(name)) hidden -= 1;
        else if (name === 'w:pPr') properties -= 1;
        else if (name === 'w:t') shown -= 1;
        else if (name === 'w:p' && hidden === 0) text.add('\n\n');
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  for await (const part of decode(archive.unpack(await findDocument(archive)))) parser.write(part);
  parser.end();
  return text.join().trim();
}

/** The main document part of the archive. */
async function findDocument(archive: Archive): Promise<string> {
  const relations = '_rels/.rels';
  if (!archive.has(relations)) return DEFAULT_PART;
  let list = '';
  for await (const part of decode(archive.unpack(relations))) {
    list += part;
    if (list.length > MAX_RELATIONS) break;
  }
  let target = DEFAULT_PART;
  const parser = new Parser(
    {
      onopentag(name, { Type = '', Target = '' }) {
        if (name === 'Relationship' && Type.endsWith('/officeDocument')) target = Target.replace(/^\//, '');
      },
    },
    { xmlMode: true },
  );
  parser.end(list);
  return archive.has(target) ? target : DEFAULT_PART;
}

/** Uses the encoding of the byte order mark, else UTF-8. */
async function* decode(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  for await (const piece of pieces) {
    decoder ??= new TextDecoder(piece[0] === 0xff ? 'utf-16le' : piece[0] === 0xfe ? 'utf-16be' : 'utf-8');
    yield decoder.decode(piece, { stream: true });
  }
  yield decoder?.decode() ?? '';
}
