import type { DocumentType } from '../../ports/text-extractor.ts';

/** Text for programs that show it in another form: its source says little to a reader. */
const FORMATTED: ReadonlySet<string> = new Set(['text/html', 'text/rtf', 'text/richtext', 'text/enriched']);
/** Types of text beside `text/*`, without `application/` and `x-`. */
const APPLICATIONS: ReadonlySet<string> = new Set(
  `ecmascript graphql httpd-php javascript json json5 jsonl jsonlines latex ndjson perl php python python-code ruby
  shellscript sql tex toml typescript xml yaml`.split(/\s+/),
);
const SUFFIXES = /\+(?:json|yaml)$/;
/** By file extension, where the type says nothing. */
const ENDINGS: ReadonlySet<string> = new Set(
  `adoc bash bib c cc cfg cjs clj conf cpp cs css csv cts dart diff erl ex exs go gql gradle graphql h hcl hpp hs ini java
  jl js json json5 jsonl jsx kt kts less log lua markdown md mjs mts ndjson org patch php pl properties proto ps1 py r rb
  rs rst scala scss sh sql srt svelte swift tex tf toml ts tsv tsx txt vtt vue xml yaml yml zsh`.split(/\s+/),
);
/** Types that say nothing. Browsers take TypeScript for a video whose files have the same ending. */
const UNSURE: ReadonlySet<string> = new Set([
  ...['', 'application/octet-stream', 'video/mp2t', 'video/vnd.dlna.mpeg-tts'],
]);
/** Bytes in which a file that is not text has a zero. */
const BEGINNING_BYTES = 8000;
/** Characters before and after the first error of an encoding that decide about the encoding. */
const SAMPLE = 2 ** 19;

/** Whether a file is text that can be read as it is: by its type, or by its name where the type says nothing. */
export function isTextFile(type: DocumentType): boolean {
  const { mimeType, name } = type;
  if (UNSURE.has(mimeType)) return ENDINGS.has(getEnding(name));
  if (mimeType.startsWith('text/')) return !FORMATTED.has(mimeType);
  if (!mimeType.startsWith('application/')) return false;
  return SUFFIXES.test(mimeType) || APPLICATIONS.has(mimeType.replace(/^application\/(?:x-)?/, ''));
}

/** In lower case, without the dot; '' without one. */
export function getEnding(name: string): string {
  return name.includes('.') ? (name.split('.').at(-1)?.toLowerCase() ?? '') : '';
}

/**
 * Decodes a text file by its byte order mark, else as UTF-8, or windows-1252, in which spreadsheets write text, where that fits better.
 * @returns undefined if the name says that it is text and its beginning is not.
 */
export function decodeText(bytes: Uint8Array, { mimeType }: DocumentType): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (UNSURE.has(mimeType) && bytes.subarray(0, BEGINNING_BYTES).includes(0)) return undefined;
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
