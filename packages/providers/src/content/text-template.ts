/** Characters that end a JSON string or need escaping in it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings, so events that hold them must fail.
const special = /["\\\u0000-\u001f]/;

/** The placeholder text for testing a template. */
const probe = 'questline';

/** OpenAI pads its events with a string of random length, so that their size reveals nothing about the text. */
const padding = '"obfuscation":"';

/** Maximum number of templates per stream: events that always differ would create one each. */
const lessons = 4;

/**
 * Text events differ only in the text. After one is parsed, events of the same shape are read without
 * parsing: their prefix and suffix are equal, and the text contains no character that could end it.
 * This costs a fifth of parsing and allocates nothing else.
 */
export class TextTemplate {
  readonly #field: string;
  readonly #getText: (data: string) => string | undefined;
  #prefix = '';
  /** From the text to the padding or the end. */
  #suffix = '';
  /** After the padding; empty without padding. */
  #tail = '';
  #lessons = 0;

  /**
   * @param field The name of the field that holds the text.
   * @param getText parses an event. @returns its text; undefined if it contains anything else.
   */
  constructor(field: string, getText: (data: string) => string | undefined) {
    this.#field = `"${field}":"`;
    this.#getText = getText;
  }

  /** Returns the text of an event of the known shape; undefined for any other, which must be parsed. */
  read(data: string): string | undefined {
    // Comparing slices is ten times as fast as `startsWith` and `endsWith`, which compare character by character.
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

  /** Learns the shape of a parsed event with this text. */
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
    // The same text may occur elsewhere in the event: only the text field returns the probe.
    if (!this.#gives(prefix + probe + suffix + (tail === '' ? '' : probe) + tail)) return;
    this.#prefix = copy(prefix);
    this.#suffix = copy(suffix);
    this.#tail = copy(tail);
  }

  #gives(event: string): boolean {
    try {
      return this.#getText(event) === probe;
    } catch {
      return false;
    }
  }
}

/** A slice would retain the whole chunk; a copy does not. */
function copy(slice: string): string {
  return Buffer.from(slice, 'utf8').toString('utf8');
}
