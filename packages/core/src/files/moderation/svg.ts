import type { Inspection } from './verdicts.ts';

const MOST_BYTES = 5 * 2 ** 20;

/**
 * What acts, or brings something in from elsewhere, in an SVG. Strangers choose the text: each must look at a character a
 * few times at most, so none has two ways to read the same blanks, or reads on to an end that another beginning reads too.
 */
const HARMS: readonly (readonly [Pick<RegExp, 'test'>, string])[] = [
  [/<(?:[\w.-]+:)?script/i, 'a script'],
  [
    /<(?:[\w.-]+:)?(?:foreignobject|iframe|embed|object|audio|video|handler|listener|html)\b/i,
    'foreign content',
  ],
  [/[\s"'/]on[a-z]{3,}\s*=/i, 'an event handler'],
  [/<!entity/i, 'entities of its own'],
  [{ test: hasInternalSubset }, 'entities of its own'],
  [/<\?xml-stylesheet/i, 'a style sheet from elsewhere'],
  [/(?:javascript|vbscript|data:text\/html|data:image\/svg)[^"']*:?/i, 'a link that acts'],
  [/(?:href|src)\s*=[\s"']*(?:https?:|\/\/|file:)/i, 'something from elsewhere'],
  [/@import|url\([\s"']*(?:https?:|\/\/|file:)/i, 'a style from elsewhere'],
];

/** An SVG that does more than draw. */
export const findActiveSvg: Inspection = async (file) => {
  if (file.mimeType !== 'image/svg+xml') return undefined;
  if (file.size > MOST_BYTES) return `an SVG of more than ${MOST_BYTES} bytes`;
  const bytes = Buffer.from(await file.read(0, file.size));
  const text = decoded(bytes);
  if (!/<(?:[\w.-]+:)?svg[\s>/]/i.test(text)) return 'the bytes are not of the type image/svg+xml';
  const harm = HARMS.find(([pattern]) => pattern.test(text));
  return harm === undefined ? undefined : `an SVG with ${harm[1]}`;
};

/** Whether a document type opens a bracket before it ends. */
function hasInternalSubset(text: string): boolean {
  let end = -1;
  let bracket = text.indexOf('[');
  for (const { index } of text.matchAll(/<!doctype/gi)) {
    // Part of the one before, which has been looked at.
    if (index < end) continue;
    if (bracket < index) bracket = text.indexOf('[', index);
    if (bracket < 0) return false;
    end = text.indexOf('>', index);
    if (end < 0 || bracket < end) return true;
  }
  return false;
}

/** With character references resolved, and without what browsers skip inside of words. */
function decoded(bytes: Buffer): string {
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff;
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe;
  // A wider encoding without its mark has a zero in every character of its tags.
  const raw =
    isBig || isLittle
      ? new TextDecoder(isBig ? 'utf-16be' : 'utf-16le').decode(bytes)
      : bytes.toString('utf8');
  return raw
    .replaceAll('\0', '')
    .replaceAll(/&#(?:x([0-9a-f]{1,6})|(\d{1,7}));?/gi, (_, hex?: string, decimal?: string) =>
      characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
    )
    .replaceAll(/&(?:tab|newline);?/gi, '')
    .replaceAll('&colon;', ':')
    .replaceAll(/(?<=[a-z])[\t\n\r]+(?=[a-z:]*(?:script|t|ript|ipt|pt)\s*:)/gi, '');
}

function characterOf(code: number): string {
  return code === 9 || code === 10 || code === 13 || code > 0x10ffff ? '' : String.fromCodePoint(code);
}
