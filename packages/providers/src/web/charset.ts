import { Parser } from 'htmlparser2';

/** A page names its encoding within its first bytes. @see https://html.spec.whatwg.org/multipage/parsing.html#prescan-a-byte-stream-to-determine-its-encoding */
const HEAD_BYTES = 1024;
const HTML_START = /^\s*<(?:!doctype|html)/i;
const XML_ENCODING = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']+)/i;

/**
 * Decodes a page: by its byte order mark, the charset of its content type, or the one that it names itself. Default: UTF-8, as for
 * an unknown one.
 */
export function decodePage(bytes: Uint8Array, type: string): string {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  const label = findByteOrder(bytes) ?? findCharset(type) ?? findNamed(head, type);
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Whether a page is HTML, by its type or its beginning. */
export function isHtml(text: string, type: string): boolean {
  return type.includes('html') || HTML_START.test(text);
}

function findByteOrder([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function findCharset(type: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(type)?.[1];
}

function findNamed(head: string, type: string): string | undefined {
  const label = XML_ENCODING.exec(head)?.[1] ?? (isHtml(head, type) ? findMeta(head) : undefined);
  // What names UTF-16 in ASCII is not in UTF-16.
  return label !== undefined && /^utf-?16/i.test(label) ? undefined : label;
}

function findMeta(head: string): string | undefined {
  let found: string | undefined;
  const parser = new Parser({
    onopentag(name, { charset, content, 'http-equiv': field }) {
      if (name !== 'meta') return;
      found ??= charset ?? (field?.toLowerCase() === 'content-type' ? findCharset(`;${content}`) : undefined);
    },
  });
  parser.end(head);
  return found;
}
