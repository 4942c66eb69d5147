/** Characters that end a JSON string or need escaping in it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in strings, so events that hold them must fail.
const special = /["\\\u0000-\u001f]/;

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
  readonly #name: string;
  #prefix = '';
  /** From the text to the padding or the end. */
  #suffix = '';
  /** After the padding; empty without padding. */
  #tail = '';
  #lessons = 0;

  /** @param field the name of the field that holds the text. */
  constructor(field: string) {
    this.#name = `"${field}"`;
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

  /**
   * Learns the shape of an event.
   * @param text what the parsed event has in the field, wherever that is.
   */
  learn(data: string, text: string): void {
    if (this.#lessons >= lessons || special.test(text)) return;
    this.#lessons += 1;
    const found = data.indexOf(this.#name);
    const start = found + this.#name.length + 2;
    // Without escapes, and with the name only once, the text is here and cannot come from another field.
    if (data.indexOf(this.#name, start) !== -1 || data.includes('\\')) return;
    if (found === -1 || !data.startsWith(`:"${text}"`, start - 2)) return;
    const padded = data.lastIndexOf(padding);
    const open = padded < start ? data.length : padded + padding.length;
    const after = open - text.length;
    const close = padded < start ? after : data.indexOf('"', open) - text.length;
    const shape = copy(data.slice(0, start) + data.slice(start + text.length));
    this.#prefix = shape.slice(0, start);
    this.#suffix = shape.slice(start, after);
    this.#tail = shape.slice(close);
  }
}

/** A slice would retain the whole chunk; a copy does not. */
function copy(slice: string): string {
  return Buffer.from(slice, 'utf8').toString('utf8');
}
