/** A sortable column value. An absent field counts as null and comes first. */
export type Comparable = string | number | boolean | null;

/** Compares values: null first, then false and true; numbers by value, text by code point. */
export function compareValues(a: Comparable, b: Comparable): number {
  if (a === b) return 0;
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (a === null || b === null) return a === null ? -1 : 1;
  return Number(a) - Number(b);
}

/**
 * Compares text by code point, like databases. JavaScript compares UTF-16 code units, which puts characters above
 * U+FFFF (surrogates, from 0xD800) before U+E000..U+FFFF.
 */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    const isSurrogate = left <= 0xdfff;
    if (left >= 0xd800 && right >= 0xd800 && isSurrogate !== right <= 0xdfff) return isSurrogate ? 1 : -1;
    return left - right;
  }
  return a.length - b.length;
}
