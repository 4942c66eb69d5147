import { isUtf8 } from 'node:buffer';
import type { Inspection } from './verdicts.ts';

/** The first bytes. Offsets other than 0 are written in front. */
interface Signature {
  readonly bytes: string;
  readonly at?: number;
  /** The media types that may be declared for it. */
  readonly types: readonly RegExp[];
}

const ZIPPED =
  /^application\/(?:zip|x-zip-compressed|epub\+zip|vnd\.(?:openxmlformats-officedocument|oasis\.opendocument)\.[\w.-]+)$/;
const ISO_MEDIA = [
  /^(?:video|audio)\/(?:mp4|quicktime|x-m4[avb]|3gpp2?)$/,
  /^image\/(?:avif|heic|heif)(?:-sequence)?$/,
];

const SIGNATURES: readonly Signature[] = [
  { bytes: '89504e470d0a1a0a', types: [/^image\/(?:apng|png)$/] },
  { bytes: 'ffd8ff', types: [/^image\/(?:jpeg|jpg)$/] },
  { bytes: '474946383761', types: [/^image\/gif$/] },
  { bytes: '474946383961', types: [/^image\/gif$/] },
  { bytes: '57454250', at: 8, types: [/^image\/webp$/] },
  { bytes: '57415645', at: 8, types: [/^audio\/(?:wav|x-wav|wave|vnd\.wave)$/] },
  { bytes: '25504446', types: [/^application\/pdf$/] },
  { bytes: '504b0304', types: [ZIPPED] },
  { bytes: '504b0506', types: [ZIPPED] },
  { bytes: '1f8b08', types: [/^application\/(?:x-)?gzip$/, /^application\/x-(?:tgz|gtar)$/] },
  { bytes: '494433', types: [/^audio\/(?:mpeg|mp3)$/] },
  { bytes: '4f676753', types: [/^(?:audio|video|application)\/(?:ogg|opus)$/] },
  { bytes: '664c6143', types: [/^audio\/(?:x-)?flac$/] },
  { bytes: '1a45dfa3', types: [/^(?:audio|video)\/(?:webm|x-matroska)$/] },
  { bytes: '66747970', at: 4, types: ISO_MEDIA },
];

/** Programs, under any file name. */
const PROGRAMS: readonly (readonly [bytes: string, name: string])[] = [
  ['7f454c46', 'an ELF program'],
  ['cafebabe', 'a Java class or Mach-O program'],
  ['feedface', 'a Mach-O program'],
  ['feedfacf', 'a Mach-O program'],
  ['cffaedfe', 'a Mach-O program'],
  ['cefaedfe', 'a Mach-O program'],
];

/** Types whose bytes always begin with a signature above. MP3 and AAC frames may begin without one. */
const CHECKED = SIGNATURES.flatMap(({ types }) => types).filter((type) => !type.test('audio/mpeg'));

const TEXT =
  /^text\/|^application\/(?:json|ld\+json|xml|yaml|x-yaml|toml|javascript|x-ndjson|sql|rtf)$|\+(?:json|xml)$/;
const ANYTHING = 'application/octet-stream';
const HEAD_BYTES = 8192;

/** Compares the declared type with the bytes. */
export const findWrongType: Inspection = async (file) => {
  const head = Buffer.from(await file.read(0, HEAD_BYTES));
  const program = programIn(head);
  if (program !== undefined) return program;
  const { mimeType } = file;
  if (mimeType === ANYTHING) return undefined;
  const found = SIGNATURES.filter(({ bytes, at = 0 }) => beginsWith(head, bytes, at));
  if (found.length > 0) {
    const isDeclared = found.some(({ types }) => types.some((type) => type.test(mimeType)));
    return isDeclared ? undefined : `the bytes are not of the type ${mimeType}`;
  }
  if (CHECKED.some((type) => type.test(mimeType))) return `the bytes are not of the type ${mimeType}`;
  if (TEXT.test(mimeType) && !looksLikeText(head, file.size)) return 'the bytes are no text';
  return undefined;
};

function programIn(head: Buffer): string | undefined {
  const known = PROGRAMS.find(([bytes]) => beginsWith(head, bytes, 0));
  if (known !== undefined) return known[1];
  // Two letters alone may also begin a text, which has no zeros. The second header, `PE\0\0`, has two of them.
  const isDos = head.length > 64 && head.toString('latin1', 0, 2) === 'MZ';
  return isDos && head.includes(0) ? 'a Windows program' : undefined;
}

function beginsWith(head: Buffer, bytes: string, at: number): boolean {
  return head.subarray(at, at + bytes.length / 2).toString('hex') === bytes;
}

/** UTF-16 with a byte order mark, or any encoding without the control characters of binary data. */
function looksLikeText(head: Buffer, size: number): boolean {
  if (beginsWith(head, 'fffe', 0) || beginsWith(head, 'feff', 0)) return true;
  if (head.includes(0)) return false;
  // The head may end within a character.
  return size > HEAD_BYTES || isUtf8(head) || !head.some((byte) => byte < 8 || (byte > 13 && byte < 27));
}
