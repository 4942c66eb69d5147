/** Returns the lower-case words of a text in any script, in order. */
export function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** FNV-1a over UTF-16 units, 32 bits. @see https://www.rfc-editor.org/rfc/rfc9923 */
export function computeHash(text: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193);
  }
  return hash >>> 0;
}
