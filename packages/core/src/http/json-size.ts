const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * Whether JSON text contains more than a number of values, without parsing: parsing millions of values blocks the
 * event loop for seconds. Counts separators; empty lists and objects count twice.
 */
export function holdsMoreValues(bytes: Buffer, most: number): boolean {
  let count = 1;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = endOfString(bytes, index + 1);
    } else if (byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      count += 1;
      if (count > most) return true;
    }
  }
  return false;
}

/** Finds the closing quote: the first one after an even number of backslashes. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return bytes.length;
}
