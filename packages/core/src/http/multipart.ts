import { type ApiRequest, header } from '../contract/message.ts';
import { ApiError } from '../shared/errors.ts';
import { parseEncoding } from './encoding.ts';

/** One part of a form. Its body is a stream and is unavailable after the next part is requested. */
export interface FormPart {
  readonly name: string;
  /** The client's file name, present for files. Do not use it as a path. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

const MAX_PARTS = 100;
const MAX_HEAD = 8192;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Streams the parts of a `multipart/form-data` body in order, without buffering them.
 * @throws ApiError 400 for another content type and for a malformed or truncated body.
 */
export async function* readForm(request: ApiRequest): AsyncGenerator<FormPart, void> {
  if (parseEncoding(header(request.headers, 'content-encoding')) !== undefined) {
    throw malformed('Content-Encoding is not supported');
  }
  const boundary = parseBoundary(header(request.headers, 'content-type'));
  const source = createSource(request.body.stream());
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  try {
    // Ignore the preamble.
    let before = 0;
    for await (const { length } of source.until(delimiter)) {
      before += length;
      if (before > MAX_HEAD) throw malformed('too much stands before the first part');
    }
    for (let count = 0; await source.hasPart(); count += 1) {
      if (count === MAX_PARTS) throw malformed(`more than ${MAX_PARTS} parts`);
      const body = source.until(delimiter);
      yield { ...aboutPart(await source.head()), body };
      for await (const _ of body);
    }
  } finally {
    await source.close();
  }
}

/** @throws ApiError 400 for a field of more than `limit` bytes. */
export async function textOfPart({ name, body }: FormPart, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw malformed(`the field ${name.slice(0, 100)} is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size).toString('utf8');
}

/** A byte queue. */
function createSource(stream: AsyncIterable<Uint8Array>) {
  const chunks = stream[Symbol.asyncIterator]();
  // Makes the first delimiter look like all others.
  let held: Buffer = Buffer.from('\r\n');

  const more = async (): Promise<void> => {
    const next = await chunks.next();
    if (next.done === true) throw malformed('it ends before its last delimiter');
    held = held.length === 0 ? toBuffer(next.value) : Buffer.concat([held, next.value]);
  };

  const take = (length: number): Buffer => {
    const taken = held.subarray(0, length);
    held = held.subarray(length);
    return taken;
  };

  return {
    /** Yields all bytes up to the delimiter and consumes the delimiter. Yields nothing when called again. */
    async *until(delimiter: Buffer): AsyncGenerator<Uint8Array, void> {
      for (;;) {
        const at = held.indexOf(delimiter);
        if (at >= 0) {
          const rest = take(at);
          take(delimiter.length);
          if (rest.length > 0) yield rest;
          return;
        }
        // The delimiter may start at the end of this chunk.
        const sure = held.length - delimiter.length + 1;
        if (sure > 0) yield take(sure);
        await more();
      }
    },

    /** After a delimiter: whether another part follows. */
    async hasPart(): Promise<boolean> {
      while (held.length < 2) await more();
      const next = take(2).toString('latin1');
      if (next === '--') return false;
      if (next !== '\r\n') throw malformed('a delimiter is followed by something else');
      return true;
    },

    async head(): Promise<string> {
      let at = held.indexOf(END_OF_HEAD);
      while (at < 0) {
        if (held.length > MAX_HEAD) throw malformed('the head of a part is too long');
        await more();
        at = held.indexOf(END_OF_HEAD);
      }
      // Independent of the chunk boundaries.
      if (at > MAX_HEAD) throw malformed('the head of a part is too long');
      const text = take(at).toString('utf8');
      take(END_OF_HEAD.length);
      return text;
    },

    async close(): Promise<void> {
      await chunks.return?.();
    },
  };
}

function aboutPart(head: string): Omit<FormPart, 'body'> {
  let disposition = '';
  let contentType: string | undefined;
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'content-disposition') disposition = value;
    if (name === 'content-type') contentType = value;
  }
  const name = readParameter(disposition, 'name');
  if (!/^form-data\b/i.test(disposition) || name === undefined) throw malformed('a part has no name');
  return { name, filename: readParameter(disposition, 'filename'), contentType };
}

/** Decodes names like browsers encode them: only quotation marks and line breaks are percent-encoded. */
function readParameter(disposition: string, wanted: string): string | undefined {
  for (const [, name, quoted, plain] of disposition.matchAll(/;\s*([\w*-]+)=(?:"([^"]*)"|([^\s;"]+))/g)) {
    if (name?.toLowerCase() !== wanted) continue;
    return (quoted ?? plain ?? '').replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');
  }
  return undefined;
}

function parseBoundary(contentType = ''): string {
  const boundary = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType,
  );
  const found = boundary?.[1] ?? boundary?.[2];
  if (found === undefined)
    throw new ApiError(400, 'Content-Type must be multipart/form-data with a boundary');
  return found;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function malformed(what: string): ApiError {
  return new ApiError(400, `the form is malformed: ${what}`);
}
