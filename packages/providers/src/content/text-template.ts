/** Characters that end a JSON string or mean something else in it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings, so events that hold them must fail.
const special = /["\\\u0000-\u001f]/;

/** Stands in for the text when a template is tried out. */
const probe = 'questline';

/** OpenAI ends its events with a string of random length, so that their size tells nobody what they say. */
const padding = '"obfuscation":"';

/** How often a stream may teach a new template: events that differ each time never repeat one. */
const lessons = 4;

/**
 * The events of a text differ in nothing but the text. Once one has been parsed, those of the same shape are read without
 * parsing: what stands before the text and behind it is the same, and the text holds no character that could end it.
 * Reading an event this way costs a fifth of parsing it, and makes no garbage.
 */
export class TextTemplate {
  readonly #field: string;
  readonly #textOf: (data: string) => string | undefined;
  #prefix = '';
  /** Behind the text, up to the padding if there is one. */
  #suffix = '';
  /** Behind the padding; empty without one. */
  #tail = '';
  #lessons = 0;

  /**
   * @param field The name of the field that holds the text.
   * @param textOf Parses an event. @returns its text; undefined when it says anything else besides.
   */
  constructor(field: string, textOf: (data: string) => string | undefined) {
    this.#field = `"${field}":"`;
    this.#textOf = textOf;
  }

  /** The text of an event of the known shape; undefined for any other, which must be parsed. */
  read(data: string): string | undefined {
    // Slices compared as wholes: `startsWith` and `endsWith` go character by character, ten times slower.
    const start = this.#prefix.length;
    if (start === 0 || data.slice(0, start) !== this.#prefix) return undefined;
    let end = data.length;
    if (this.#tail !== '') {
      const close = end - this.#tail.length;
      end = data.lastIndexOf('"', close - 1) + 1;
      if (data.slice(close) !== this.#tail || special.test(data.slice(end, close))) return undefined;
    }
    const stop = end - this.#suffix.length;
    if (stop <= start || data.slice(stop, end) !== this.#suffix) return undefined;
    const text = data.slice(start, stop);
    return special.test(text) ? undefined : text;
  }

  /** Learns the shape of an event that was parsed, and whose text this is. */
  learn(data: string, text: string): void {
    if (this.#lessons >= lessons || special.test(text)) return;
    this.#lessons += 1;
    const found = data.indexOf(`${this.#field}${text}"`);
    if (found === -1) return;
    const start = found + this.#field.length;
    const prefix = data.slice(0, start);
    const rest = data.slice(start + text.length);
    const padded = rest.lastIndexOf(padding);
    const open = padded === -1 ? rest.length : padded + padding.length;
    const suffix = rest.slice(0, open);
    const tail = padded === -1 ? '' : rest.slice(rest.indexOf('"', open));
    // The same words may stand elsewhere in the event: only the field that holds the text gives the probe back.
    if (!this.#gives(prefix + probe + suffix + (tail === '' ? '' : probe) + tail)) return;
    this.#prefix = copy(prefix);
    this.#suffix = copy(suffix);
    this.#tail = copy(tail);
  }

  #gives(event: string): boolean {
    try {
      return this.#textOf(event) === probe;
    } catch {
      return false;
    }
  }
}

/** A slice keeps the whole read it was cut from; this does not. */
function copy(slice: string): string {
  return Buffer.from(slice, 'utf8').toString('utf8');
}
