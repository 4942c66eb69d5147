/**
 * Returns a `Content-Disposition` header value that makes browsers save the body under a name. Contains an ASCII
 * fallback and the full name (RFC 6266, RFC 8187).
 */
export function attachmentDisposition(given: string): string {
  // Remove path separators, because some clients use the name as a path.
  const name = given.replaceAll(/[/\\]/g, '_');
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/gu, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
