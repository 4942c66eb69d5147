import { Parser } from 'htmlparser2';

/** Elements whose content is not for readers. */
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'template', 'svg']);
/** Elements that begin and end a line. */
const BLOCKS: ReadonlySet<string> = new Set(
  `address article aside blockquote br caption center dd details dialog div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol optgroup option p pre section summary table tr ul`.split(
    /\s+/,
  ),
);
const CELLS: ReadonlySet<string> = new Set(['td', 'th']);
/** Characters parsed at a time. */
const PIECE = 65_536;
/** The parser's time grows with the square of the depth: text after a deeper element is omitted. */
const MAX_DEPTH = 5_000;

/** Extracts the visible text of an HTML page: its title, and its text with line breaks between blocks. */
export function getPageText(html: string): { readonly title: string | null; readonly text: string } {
  let text = '';
  let title: string | null = null;
  let depth = 0;
  let hidden = 0;
  let preformatted = 0;
  let isTitle = false;
  let isTooDeep = false;
  const breakLine = (): void => {
    if (!text.endsWith('\n')) text += '\n';
  };
  const parser = new Parser({
    onopentag(name) {
      depth += 1;
      isTooDeep ||= depth > MAX_DEPTH;
      // An image may have a title, too.
      if (name === 'title' && hidden === 0 && title === null) isTitle = true;
      if (HIDDEN.has(name)) hidden += 1;
      else if (name === 'br') text += '\n';
      else if (BLOCKS.has(name)) breakLine();
      else if (CELLS.has(name)) text += ' ';
      if (name === 'pre') preformatted += 1;
    },
    ontext(part) {
      if (isTooDeep) return;
      const line = part.replace(/\s+/g, ' ');
      if (isTitle) title = `${title ?? ''}${line}`;
      else if (hidden === 0) text += preformatted > 0 ? part : line;
    },
    onclosetag(name) {
      depth -= 1;
      if (name === 'title') isTitle = false;
      else if (HIDDEN.has(name)) hidden = Math.max(0, hidden - 1);
      else if (BLOCKS.has(name)) breakLine();
      if (name === 'pre') preformatted = Math.max(0, preformatted - 1);
    },
  });
  for (let at = 0; at < html.length && !isTooDeep; at += PIECE) parser.write(html.slice(at, at + PIECE));
  parser.end();
  return { title: title === null ? null : tidy(title), text: tidy(text) };
}

function tidy(text: string): string {
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
