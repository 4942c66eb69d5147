import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

/** A file that exhausts the resources of a reader. */
export interface HostileFile {
  /** Its attack, for reports. */
  readonly kind: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
}

const MIB = 2 ** 20;
const PDF = 'application/pdf';
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const HTML = 'text/html';

/**
 * Compresses `times` copies of a chunk without holding them in memory: zlib packs equal chunks into equal
 * bytes.
 */
function deflateMany(piece: Buffer, times: number): Buffer {
  const all = Buffer.alloc(Math.min(piece.length * times, 256 * MIB), piece);
  return deflateSync(all, { level: 9 });
}

const deflateAgain = (bytes: Buffer, layers: number): Buffer =>
  layers === 0 ? bytes : deflateAgain(deflateSync(bytes, { level: 9 }), layers - 1);

type PdfObject = string | { readonly dictionary: string; readonly stream: Buffer; readonly length?: number };

/** A PDF of these objects; the first one is the catalogue. @param padding bytes of comments before them. */
function buildPdf(objects: readonly PdfObject[], padding = 0): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  let size = parts[0]?.length ?? 0;
  const push = (part: Buffer): void => {
    parts.push(part);
    size += part.length;
  };
  if (padding > 0) push(Buffer.concat([Buffer.alloc(padding, '%padding '), Buffer.from('\n')]));
  const places = objects.map((object, index) => {
    const place = size;
    if (typeof object === 'string') push(Buffer.from(`${index + 1} 0 obj\n${object}\nendobj\n`, 'latin1'));
    else {
      const { dictionary, stream, length = stream.length } = object;
      push(Buffer.from(`${index + 1} 0 obj\n<< ${dictionary} /Length ${length} >>\nstream\n`, 'latin1'));
      push(stream);
      push(Buffer.from('\nendstream\nendobj\n'));
    }
    return place;
  });
  const entries = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const count = objects.length + 1;
  push(
    Buffer.from(
      `xref\n0 ${count}\n0000000000 65535 f \n${entries}trailer << /Size ${count} /Root 1 0 R >>\nstartxref\n${size}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>';
const PAGES = '<< /Type /Pages /Kids [3 0 R] /Count 1 >>';
const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>';
const page = (resources = '/Font << /F1 5 0 R >>') =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << ${resources} >> /Contents 4 0 R >>`;
const plain = (content: string): PdfObject => ({ dictionary: '', stream: Buffer.from(content) });
const TEXT = 'BT /F1 12 Tf 72 720 Td (Hello) Tj ET\n';
const pdf = (kind: string, bytes: Buffer): HostileFile => ({ kind, name: 'a.pdf', mimeType: PDF, bytes });

/** Content behind several filters: a few hundred bytes unpack to hundreds of megabytes. */
function nestedFilters(layers: number, megabytes: number, padding = 0): HostileFile {
  const inner = deflateMany(Buffer.from(TEXT), (megabytes * MIB) / TEXT.length);
  const stream = deflateAgain(inner, layers - 1);
  const filter = `/Filter [${'/FlateDecode '.repeat(layers)}]`;
  const content = { dictionary: filter, stream };
  return pdf('nested filters', buildPdf([CATALOG, PAGES, page(), content, FONT], padding));
}

/** A known attack: blanks behind three filters, below 1,000 bytes. */
export function makeTinyBomb(megabytes = 256): HostileFile {
  const stream = deflateAgain(deflateMany(Buffer.alloc(MIB, ' '), megabytes), 2);
  const content = { dictionary: '/Filter [/FlateDecode /FlateDecode /FlateDecode]', stream };
  return pdf('tiny', buildPdf([CATALOG, PAGES, page(''), content]));
}

function manyContents(streams: number, megabytes: number): HostileFile {
  const stream = deflateMany(Buffer.from(TEXT), (megabytes * MIB) / TEXT.length);
  const contents = Array.from({ length: streams }, () => '4 0 R').join(' ');
  const leaf = page().replace('/Contents 4 0 R', `/Contents [${contents}]`);
  return pdf(
    'one stream, many times',
    buildPdf([CATALOG, PAGES, leaf, { dictionary: '/Filter /FlateDecode', stream }, FONT]),
  );
}

function manyPages(pages: number, megabytes: number): HostileFile {
  const stream = deflateMany(Buffer.alloc(MIB, ' '), megabytes);
  const kids = Array.from({ length: pages }, () => '3 0 R').join(' ');
  const tree = `<< /Type /Pages /Kids [${kids}] /Count ${pages} >>`;
  return pdf(
    'one page, many times',
    buildPdf([CATALOG, tree, page(''), { dictionary: '/Filter /FlateDecode', stream }]),
  );
}

/** An object stream that unpacks to many objects. */
function objectStream(objects: number): HostileFile {
  const head = Array.from({ length: Math.min(objects, 200_000) }, (_, at) => `${at + 10} ${at * 3} `).join(
    '',
  );
  const stream = deflateSync(Buffer.concat([Buffer.from(head), Buffer.alloc(objects * 3, '[] ')]));
  const lying = {
    dictionary: `/Type /ObjStm /N ${objects} /First ${head.length} /Filter /FlateDecode`,
    stream,
  };
  const xref = deflateMany(Buffer.alloc(7, 1), objects * 10);
  const table = {
    dictionary: `/Type /XRef /W [1 4 2] /Size ${objects * 10} /Root 1 0 R /Filter /FlateDecode`,
    stream: xref,
  };
  const file = buildPdf([CATALOG, PAGES, page(), plain(TEXT), FONT, lying, table]);
  const place = file.indexOf('7 0 obj');
  return pdf('objects', Buffer.concat([file, Buffer.from(`\nstartxref\n${place}\n%%EOF\n`)]));
}

/** Nested forms: 10 to the power of the depth. */
function nestedForms(depth: number): HostileFile {
  const forms = Array.from({ length: depth }, (_, at) => ({
    dictionary: `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 5 0 R >> /XObject << /X ${at + 7} 0 R >> >>`,
    stream: Buffer.from(at === depth - 1 ? TEXT : '/X Do '.repeat(10)),
  }));
  const resources = '/Font << /F1 5 0 R >> /XObject << /X 6 0 R >>';
  return pdf('nested forms', buildPdf([CATALOG, PAGES, page(resources), plain('/X Do'), FONT, ...forms]));
}

/** Its reader works for minutes. */
export const makeEndlessPdf = (): HostileFile => nestedForms(9);

function hugeImage(filter: string, stream: Buffer, side: number): HostileFile {
  const image = {
    dictionary: `/Type /XObject /Subtype /Image /Width ${side} /Height ${side} /BitsPerComponent 8 /ColorSpace /DeviceRGB /Filter ${filter}`,
    stream,
  };
  const inline = `BI /W ${side} /H ${side} /BPC 8 /CS /RGB ID ${'x'.repeat(1000)} EI `;
  const resources = '/Font << /F1 5 0 R >> /XObject << /X 6 0 R >>';
  const content = plain(`${TEXT}/X Do ${inline}${TEXT}`);
  return pdf('images', buildPdf([CATALOG, PAGES, page(resources), content, FONT, image]));
}

function fontBomb(kind: 'file' | 'cmap' | 'widths', megabytes: number): HostileFile {
  const flate = '/Filter /FlateDecode';
  const file = {
    dictionary: flate,
    stream: deflateMany(Buffer.from('\0\x01\0\0\xff\xff', 'latin1'), (megabytes * MIB) / 6),
  };
  const ranges = '<0000> <FFFF> <0041>\n';
  const map = `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange\n`;
  const cmap = {
    dictionary: flate,
    stream: deflateSync(
      Buffer.concat([
        Buffer.from(`${map}100 beginbfrange\n`),
        Buffer.alloc(Math.min(megabytes, 64) * MIB, ranges),
        Buffer.from('endbfrange endcmap'),
      ]),
    ),
  };
  const widths = kind === 'widths' ? `/W [0 2147483647 500] ` : '';
  const descriptor = '<< /Type /FontDescriptor /FontName /A /Flags 4 /FontFile2 8 0 R >>';
  const descendant = `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /CIDSystemInfo << /Registry (A) /Ordering (B) /Supplement 0 >> /FontDescriptor 7 0 R ${widths}>>`;
  const unicode = kind === 'cmap' ? '/ToUnicode 9 0 R ' : '';
  const font = `<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [6 0 R] ${unicode}>>`;
  const content = plain('BT /F1 12 Tf 72 720 Td <00410042> Tj ET');
  return pdf(
    `fonts (${kind})`,
    buildPdf([CATALOG, PAGES, page(), content, font, descendant, descriptor, file, cmap]),
  );
}

function lyingPdf(which: number): HostileFile {
  const objects: PdfObject[] = [CATALOG, PAGES, page(), plain(TEXT), FONT];
  if (which === 0) objects[1] = '<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2147483647 >>';
  if (which === 1) objects[3] = { dictionary: '', stream: Buffer.from(TEXT), length: 4_000_000_000 };
  if (which === 2) {
    const parms = '/DecodeParms << /Predictor 15 /Columns 536870911 /Colors 4 >>';
    objects[3] = {
      dictionary: `/Filter /FlateDecode ${parms}`,
      stream: deflateMany(Buffer.alloc(MIB, 2), 64),
    };
  }
  if (which === 3) objects[3] = { dictionary: '/Filter /LZWDecode', stream: Buffer.alloc(8 * MIB, 0x80) };
  const file = buildPdf(objects);
  return pdf(
    'lying sizes',
    which === 4 ? Buffer.from(file.toString('latin1').replace(/0 6\n/, '0 2000000000\n'), 'latin1') : file,
  );
}

/** Opens arrays without closing them, or contains many objects that a search for a lost table must read. */
function brokenPdf(kind: 'arrays' | 'objects', megabytes: number): HostileFile {
  const filling = kind === 'arrays' ? '[' : '1 0 obj << /Type /Page >> endobj\n';
  const body = Buffer.alloc(megabytes * MIB, filling);
  const head = Buffer.from(`%PDF-1.4\n1 0 obj\n${CATALOG}\nendobj\n2 0 obj\n`);
  return pdf(`broken (${kind})`, Buffer.concat([head, body, Buffer.from('\ntrailer << /Root 1 0 R >>')]));
}

interface Part {
  readonly name: string;
  readonly packed: Buffer;
  /** The declared unpacked size. */
  readonly size: number;
}

/** A ZIP archive of deflated parts with declared sizes. No checksums: readers do not verify them. */
function buildZip(parts: readonly Part[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let place = 0;
  for (const { name, packed, size } of parts) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(size, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(place, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\0', 'latin1'), common, rest, Buffer.from(name)]),
    );
    files.push(local);
    place += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(place, 16);
  return Buffer.concat([...files, entries, end]);
}

const part = (name: string, content: Buffer, size = content.length): Part => ({
  name,
  packed: deflateRawSync(content, { level: 9 }),
  size,
});

const word = (kind: string, document: Buffer, size?: number, padding = 0): HostileFile => ({
  kind: `docx (${kind})`,
  name: 'a.docx',
  mimeType: WORD,
  bytes: buildZip([
    part('[Content_Types].xml', Buffer.from('<Types/>')),
    part('word/document.xml', document, size),
    ...(padding > 0 ? [{ name: 'word/media/x.bin', packed: noise(padding), size: padding }] : []),
  ]),
});

const W = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>';
const around = (body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(W), body, Buffer.from('</w:body></w:document>')]);

/** Incompressible bytes, equal each time. */
function noise(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = 0x2545_f491;
  for (let at = 0; at + 4 <= size; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state, at);
  }
  return bytes;
}

const html = (kind: string, bytes: Buffer): HostileFile => ({
  kind: `html (${kind})`,
  name: 'a.html',
  mimeType: HTML,
  bytes,
});

const other = (kind: string, name: string, mimeType: string, bytes: Buffer): HostileFile => ({
  kind,
  name,
  mimeType,
  bytes,
});

const nestedZip = (depth: number, megabytes: number): Buffer =>
  depth === 0
    ? Buffer.alloc(megabytes * MIB)
    : buildZip([
        part('inside.zip', nestedZip(depth - 1, megabytes)),
        part('again.zip', nestedZip(depth - 1, megabytes)),
      ]);

/** One file of each kind. `scale` 1: up to 30 MB; less for a quick run. */
function makeKinds(scale: number, round: number): (() => HostileFile)[] {
  const grow = scale * (1 + (round % 3) / 4);
  /** Unpacked megabytes. */
  const mb = (megabytes: number): number => Math.max(1, Math.round(megabytes * grow));
  /** Megabytes of the file: a server accepts at most 30. */
  const size = (megabytes: number): number => Math.min(29, mb(megabytes));
  const paragraph = '<w:p><w:r><w:t>a</w:t></w:r></w:p>';
  return [
    () => makeTinyBomb(mb(200)),
    () => nestedFilters(1, mb(256)),
    () => nestedFilters(2, mb(200), size(20) * MIB),
    () => nestedFilters(3, mb(250)),
    () => nestedFilters(6, mb(100)),
    () => manyContents(200, mb(32)),
    () => manyPages(1000, mb(64)),
    () => objectStream(mb(3) * 100_000),
    () => nestedForms(4 + (round % 6)),
    () => hugeImage('/FlateDecode', deflateMany(Buffer.alloc(MIB), mb(200)), 20_000),
    () => hugeImage('[/FlateDecode /DCTDecode]', deflateMany(Buffer.alloc(MIB, 255), mb(200)), 65_500),
    () => hugeImage('/JBIG2Decode', noise(100_000), 60_000),
    () => hugeImage('/JPXDecode', noise(size(29) * MIB), 60_000),
    () => fontBomb('file', mb(200)),
    () => fontBomb('cmap', mb(60)),
    () => fontBomb('widths', 1),
    () => lyingPdf(round % 5),
    () => lyingPdf((round + 2) % 5),
    () => brokenPdf('arrays', size(20)),
    () => brokenPdf('objects', size(24)),
    () =>
      word(
        'one long word',
        around(Buffer.concat([Buffer.from('<w:p><w:r><w:t>'), Buffer.alloc(mb(120) * MIB, 'a')])),
      ),
    () => word('paragraphs', around(Buffer.alloc(mb(200) * MIB, paragraph))),
    () =>
      word(
        'paragraphs below the ratio',
        around(Buffer.alloc(mb(40) * MIB, paragraph)),
        undefined,
        mb(1) * MIB,
      ),
    () => word('lying sizes', around(Buffer.alloc(mb(100) * MIB, paragraph)), 1000, mb(8) * MIB),
    () => word('depth', around(Buffer.alloc(mb(60) * MIB, '<w:p>')), undefined, mb(2) * MIB),
    () =>
      word(
        'attribute',
        around(Buffer.concat([Buffer.from('<w:p a="'), Buffer.alloc(mb(90) * MIB, 'a')])),
        undefined,
        mb(2) * MIB,
      ),
    () => html('depth', Buffer.alloc(size(20) * MIB, '<b>')),
    () =>
      html(
        'unmatched ends',
        Buffer.concat([Buffer.alloc(size(8) * MIB, '<b>'), Buffer.alloc(size(8) * MIB, '</i>')]),
      ),
    () => html('attribute', Buffer.concat([Buffer.from('<p a="'), Buffer.alloc(size(24) * MIB, 'a')])),
    () => html('entities', Buffer.alloc(size(24) * MIB, '&amp;&#x1F600;')),
    () => other('gzip', 'a.gz', 'application/gzip', gzipSync(Buffer.alloc(mb(250) * MIB), { level: 9 })),
    () => other('zip', 'a.zip', 'application/zip', buildZip([part('a', Buffer.alloc(mb(250) * MIB), 10)])),
    () => other('nested zip', 'a.zip', 'application/zip', nestedZip(3, mb(20))),
    () =>
      other(
        'zip in zip, not packed tight',
        'a.zip',
        'application/zip',
        buildZip([part('b.zip', buildZip([part('c', noise(size(28) * MIB))]))]),
      ),
    () =>
      other(
        'zip of entries',
        'a.zip',
        'application/zip',
        buildZip(Array.from({ length: 60_000 }, (_, at) => part(`${at}`, Buffer.alloc(0)))),
      ),
    () => other('json', 'a.json', 'application/json', Buffer.alloc(size(28) * MIB, '[')),
    () => other('json of names', 'a.json', 'application/json', Buffer.from(`{${'"a":{'.repeat(100_000)}`)),
    () => other('text', 'a.txt', 'text/plain', Buffer.alloc(size(29) * MIB, 'one word after the other\n')),
    () => other('text without ends', 'a.txt', 'text/plain', Buffer.alloc(size(29) * MIB, 'é')),
    () => pdf('noise', Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(size(29) * MIB)])),
  ];
}

/** Number of kinds. */
export const HOSTILE_KINDS = 40;

/** Creates `count` hostile files of alternating kinds, one at a time, and the same ones each time. */
export function* makeHostileFiles(count: number, scale = 1): Generator<HostileFile> {
  for (let number = 0; number < count; number += 1) {
    const make = makeKinds(scale, Math.floor(number / HOSTILE_KINDS))[number % HOSTILE_KINDS];
    if (make !== undefined) yield make();
  }
}
