import { crc32, deflateRawSync } from 'node:zlib';
import type { ReadingLimits } from '../src/limits.ts';

/** A minimal PDF with one page per text. */
export function makePdf(pages: readonly string[]): Uint8Array {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${pages.map((_, page) => `${4 + 2 * page} 0 R`).join(' ')}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, page) => {
      const content = `BT /F1 12 Tf 72 720 Td (${text.replace(/[()\\]/g, '\\$&')}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * page} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let file = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  file += places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  file += `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(file, 'latin1');
}

/** Limits that no small document exceeds. */
export const WIDE_LIMITS: ReadingLimits = {
  maxPages: 10,
  maxDecodedBytes: 2 ** 26,
  maxTextBytes: 2 ** 24,
  maxMs: 60_000,
  maxMemoryBytes: 2 ** 29,
};

/** A docx file of these paragraphs: a ZIP archive without compression. */
export function makeWord(paragraphs: readonly string[], claimedSize?: number): Uint8Array {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const body = paragraphs.map((text) => `<w:p><w:r><w:t>${escaped(text)}</w:t></w:r></w:p>`).join('');
  return makeWordOfBody(body, claimedSize);
}

/** A docx file with this XML as its body. */
export function makeWordOfBody(body: string, claimedSize?: number): Uint8Array {
  return makeZip(
    {
      '[Content_Types].xml':
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
      '_rels/.rels': makeRelations('word/document.xml'),
      'word/document.xml': makeWordXml(body),
    },
    claimedSize === undefined ? {} : { claimedSize },
  );
}

/** The part of a docx file that names its main part. */
export const makeRelations = (target: string): string =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="${target}"/></Relationships>`;

/** The main part of a docx file. */
export const makeWordXml = (body: string): string =>
  `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`;

export interface ZipOptions {
  /** The declared size of each part. Default: its size. */
  readonly claimedSize?: number;
  /** The compression: 0 none, 8 deflate, others declared only. Default 0. */
  readonly method?: number;
  /** Gives each part extra fields and a comment. */
  readonly hasExtras?: boolean;
}

export function makeZip(
  parts: Readonly<Record<string, string | Uint8Array>>,
  { claimedSize, method = 0, hasExtras = false }: ZipOptions = {},
): Buffer {
  const fill = (size: number): Buffer => Buffer.alloc(hasExtras ? size : 0, 'x');
  const [localExtra, extra, comment] = [fill(5), fill(9), fill(3)];
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let place = 0;
  for (const [name, text] of Object.entries(parts)) {
    const content = Buffer.from(text);
    const packed = method === 8 ? deflateRawSync(content) : content;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(claimedSize ?? content.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    common.writeUInt16LE(localExtra.length, 24);
    const local = Buffer.concat([
      Buffer.from('PK\u0003\u0004'),
      common,
      Buffer.from(name),
      localExtra,
      packed,
    ]);
    common.writeUInt16LE(extra.length, 24);
    const rest = Buffer.alloc(14);
    rest.writeUInt16LE(comment.length, 0);
    rest.writeUInt32LE(place, 10);
    directory.push(Buffer.from('PK\u0001\u0002\u0014\0'), common, rest, Buffer.from(name), extra, comment);
    files.push(local);
    place += local.length;
  }
  const count = Object.keys(parts).length;
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(place, 16);
  return Buffer.concat([...files, entries, end]);
}
