/**
 * The value of a `Content-Disposition` header that makes browsers save under a name. Old readers get the name in ASCII,
 * others the name itself (RFC 6266, RFC 8187).
 */
export function attachmentDisposition(given: string): string {
  // A name is no path, whoever reads it.
  const name = given.replaceAll(/[/\\]/g, '_');
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/gu, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
