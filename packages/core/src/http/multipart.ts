import { ApiError } from '../errors.ts';
import { type ApiRequest, header } from './message.ts';

/** One part of a form. Its body is read as it arrives, and is gone when the next part is asked for. */
export interface FormPart {
  readonly name: string;
  /** Present for files. Says what the sender calls it, and is nothing to make a path of. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

const MOST_PARTS = 100;
const LONGEST_HEAD = 8192;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * The parts of a `multipart/form-data` body, in their order, without keeping any of them.
 * @throws ApiError 400 for another type, and for a body that is malformed or breaks off.
 */
export async function* readForm(request: ApiRequest): AsyncGenerator<FormPart, void> {
  const boundary = boundaryOf(header(request.headers, 'content-type'));
  const source = createSource(request.body.stream());
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  try {
    // What stands before the first part is nobody's.
    let before = 0;
    for await (const { length } of source.until(delimiter)) {
      before += length;
      if (before > LONGEST_HEAD) throw malformed('too much stands before the first part');
    }
    for (let count = 0; await source.hasPart(); count += 1) {
      if (count === MOST_PARTS) throw malformed(`more than ${MOST_PARTS} parts`);
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

/** Bytes that are taken off the front, a few at a time. */
function createSource(stream: AsyncIterable<Uint8Array>) {
  const chunks = stream[Symbol.asyncIterator]();
  // So the first delimiter looks like all others.
  let held: Buffer = Buffer.from('\r\n');

  const more = async (): Promise<void> => {
    const next = await chunks.next();
    if (next.done === true) throw malformed('it ends before its last delimiter');
    held = held.length === 0 ? bufferOf(next.value) : Buffer.concat([held, next.value]);
  };

  const take = (length: number): Buffer => {
    const taken = held.subarray(0, length);
    held = held.subarray(length);
    return taken;
  };

  return {
    /** Everything up to the delimiter, which is taken too. Asked again after its end, it has nothing more. */
    async *until(delimiter: Buffer): AsyncGenerator<Uint8Array, void> {
      for (;;) {
        const at = held.indexOf(delimiter);
        if (at >= 0) {
          const rest = take(at);
          take(delimiter.length);
          if (rest.length > 0) yield rest;
          return;
        }
        // The delimiter may have begun at the end of what is here.
        const sure = held.length - delimiter.length + 1;
        if (sure > 0) yield take(sure);
        await more();
      }
    },

    /** After a delimiter: whether another part follows, or the end. */
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
        if (held.length > LONGEST_HEAD) throw malformed('the head of a part is too long');
        await more();
        at = held.indexOf(END_OF_HEAD);
      }
      // In whatever pieces it has come.
      if (at > LONGEST_HEAD) throw malformed('the head of a part is too long');
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
  const name = parameterOf(disposition, 'name');
  if (!/^form-data\b/i.test(disposition) || name === undefined) throw malformed('a part has no name');
  return { name, filename: parameterOf(disposition, 'filename'), contentType };
}

/** As browsers write it: quotation marks and line breaks percent-encoded, nothing else. */
function parameterOf(disposition: string, wanted: string): string | undefined {
  for (const [, name, quoted, plain] of disposition.matchAll(/;\s*([\w*-]+)=(?:"([^"]*)"|([^\s;"]+))/g)) {
    if (name?.toLowerCase() !== wanted) continue;
    return (quoted ?? plain ?? '').replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');
  }
  return undefined;
}

function boundaryOf(contentType = ''): string {
  const boundary = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(
    contentType,
  );
  const found = boundary?.[1] ?? boundary?.[2];
  if (found === undefined)
    throw new ApiError(400, 'Content-Type must be multipart/form-data with a boundary');
  return found;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function malformed(what: string): ApiError {
  return new ApiError(400, `the form is malformed: ${what}`);
}
