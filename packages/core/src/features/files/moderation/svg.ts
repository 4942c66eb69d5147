import type { Inspection } from './verdicts.ts';

const MAX_BYTES = 5 * 2 ** 20;

/** Elements that run code or embed another document, in lower case. */
const ACTIVE_ELEMENTS: ReadonlySet<string> = new Set(
  'script foreignobject iframe embed object audio video handler listener html'.split(' '),
);
const EVENT_HANDLER = /^on[a-z]{3,}$/;
/** Also as one of several values of an animation, and with characters before it that browsers skip. */
const ACTIVE_URL = /(?:^|;)(?:javascript|vbscript|data:text\/html|data:image\/svg)/;
const REMOTE_URL = /^(?:https?:|\/\/|file:)/;
const REMOTE_STYLE = /@import|url\(["']?(?:https?:|\/\/|file:)/;

/** Finds active or external content in an SVG. Runs in linear time: the tokenizer keeps no stack of elements. */
export const findActiveSvg: Inspection = async (file) => {
  if (file.mimeType !== 'image/svg+xml') return undefined;
  if (file.size > MAX_BYTES) return `an SVG of more than ${MAX_BYTES} bytes`;
  // Loaded with the first SVG: most processes never see one.
  const { Tokenizer } = await import('htmlparser2');
  const { isSvg, harm } = inspect(Tokenizer, decode(Buffer.from(await file.read(0, file.size))));
  if (!isSvg) return 'the bytes are not of the type image/svg+xml';
  return harm === undefined ? undefined : `an SVG with ${harm}`;
};

function inspect(
  Tokenizer: typeof import('htmlparser2').Tokenizer,
  text: string,
): { readonly isSvg: boolean; readonly harm: string | undefined } {
  let isSvg = false;
  let harm: string | undefined;
  let element = '';
  let attribute = '';
  let value: string[] = [];
  /** The number of open style elements. Their text is joined across the elements in it, as browsers do. */
  let styles = 0;
  let style: string[] = [];
  const found = (kind: string | undefined): void => {
    harm ??= kind;
  };
  const addText = (part: string): void => {
    if (styles > 0) style.push(part);
  };
  const endStyle = (): void => {
    found(getStyleHarm(style.join('')));
    style = [];
  };
  const endElement = (name: string): void => {
    if (name === 'style') styles = Math.max(0, styles - 1);
    if (styles === 0) endStyle();
  };
  const tokenizer = new Tokenizer(
    { xmlMode: true },
    {
      onopentagname(start, end) {
        element = getLocalName(text.slice(start, end));
        isSvg ||= element === 'svg';
        if (element === 'style') styles += 1;
        if (element === 'script') found('a script');
        else if (ACTIVE_ELEMENTS.has(element)) found('foreign content');
      },
      onattribname(start, end) {
        attribute = getLocalName(text.slice(start, end));
        value = [];
        if (EVENT_HANDLER.test(attribute)) found('an event handler');
      },
      onattribdata: (start, end) => void value.push(text.slice(start, end)),
      onattribentity: (code) => void value.push(String.fromCodePoint(code)),
      onattribend: () => found(getAttributeHarm(attribute, value.join(''))),
      onopentagend: () => undefined,
      onselfclosingtag: () => endElement(element),
      onclosetag: (start, end) => endElement(getLocalName(text.slice(start, end))),
      ontext: (start, end) => addText(text.slice(start, end)),
      ontextentity: (code) => addText(String.fromCodePoint(code)),
      oncdata: (start, end, offset) => addText(text.slice(start, end - offset)),
      oncomment: () => undefined,
      ondeclaration(start, end) {
        // A declaration in a document type can define an entity with any content, or an attribute with a default.
        if (!/^doctype[^[]*$/i.test(text.slice(start, end))) found('entities of its own');
      },
      onprocessinginstruction(start, end) {
        if (/^xml-stylesheet/i.test(text.slice(start, end))) found('a style sheet from elsewhere');
      },
      onend: () => undefined,
    },
  );
  tokenizer.write(text);
  tokenizer.end();
  endStyle();
  return { isSvg, harm };
}

function getAttributeHarm(name: string, raw: string): string | undefined {
  const value = normalize(raw);
  if (ACTIVE_URL.test(value)) return 'a link that acts';
  if ((name === 'href' || name === 'src') && REMOTE_URL.test(value)) return 'something from elsewhere';
  return getStyleHarm(raw);
}

function getStyleHarm(raw: string): string | undefined {
  return REMOTE_STYLE.test(normalize(raw)) ? 'a style from elsewhere' : undefined;
}

/** Removes what browsers skip in a URL, and resolves the references that are HTML's and not XML's. */
function normalize(value: string): string {
  return value
    .toLowerCase()
    .replaceAll(/&(?:tab|newline);?/g, '')
    .replaceAll('&colon;', ':')
    .replaceAll(/[\0-\x20]+/g, '');
}

/** In lower case, without its namespace. */
function getLocalName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1).toLowerCase();
}

function decode(bytes: Buffer): string {
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff;
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe;
  // A wider encoding without a byte order mark has a zero byte in every character of its tags.
  const text =
    isBig || isLittle
      ? new TextDecoder(isBig ? 'utf-16be' : 'utf-16le').decode(bytes)
      : bytes.toString('utf8');
  return text.replaceAll('\0', '');
}
