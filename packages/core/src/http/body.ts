import { isUtf8 } from 'node:buffer';
import { ApiError, invalid } from '../errors.ts';
import { holdsMoreValues } from './json-size.ts';
import { type ApiRequest, type BodyTooLarge, header } from './message.ts';

/** Deeper JSON is refused: nobody means it, and recursion elsewhere may not survive it. */
const DEEPEST = 100;

/**
 * More values than this are refused before anything looks at them: a schema checks, and a fault list names, every single
 * one, so a body of nothing but commas and digits would cost thousands of times its size.
 */
const MOST_VALUES = 100_000;

/** Bytes from which it pays to count values before parsing. */
const LARGE = 2 ** 18;

export const DEFAULT_BODY_LIMIT = 2 ** 20;

/**
 * The request's JSON body as a value: `{}` for an empty one, always an object.
 * @throws ApiError 413 too large; 400 not JSON, not UTF-8, nested too deeply, wrong content type; 422 no object, U+0000 in a string.
 */
export async function readJson(request: ApiRequest, limit: number): Promise<Record<string, unknown>> {
  const value = await readValue(request, limit);
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('', `the body must be a JSON object, got ${kindOf(value)}`);
  }
  return value as Record<string, unknown>;
}

/** Whether the request carries a body at all, for operations that take none. Headers alone don't tell in every host. */
export async function hasBody(request: ApiRequest): Promise<boolean> {
  const { parsed } = request.body;
  if (parsed !== undefined)
    return !(typeof parsed === 'object' && parsed !== null && Object.keys(parsed).length === 0);
  try {
    return (await request.body.bytes(0)).length > 0;
  } catch (error) {
    if (isTooLarge(error)) return true;
    throw brokenOff(error);
  }
}

async function readValue(request: ApiRequest, limit: number): Promise<unknown> {
  const { parsed } = request.body;
  if (parsed !== undefined && typeof parsed !== 'string' && !(parsed instanceof Uint8Array)) {
    return clean(parsed, true, { left: MOST_VALUES });
  }
  const bytes = parsed === undefined ? await read(request, limit) : undefined;
  const raw = bytes ?? (typeof parsed === 'string' ? parsed : (parsed as Uint8Array));
  if (raw.length === 0) return undefined;
  requireJsonType(header(request.headers, 'content-type'));
  return parse(typeof raw === 'string' ? raw : decode(raw));
}

async function read(request: ApiRequest, limit: number): Promise<Uint8Array> {
  try {
    return await request.body.bytes(limit);
  } catch (error) {
    throw isTooLarge(error) ? tooLarge(error.limit) : brokenOff(error);
  }
}

function isTooLarge(error: unknown): error is BodyTooLarge {
  return error instanceof Error && error.name === 'BodyTooLarge';
}

/** The client broke off in the middle of its own upload: nobody reads this answer. */
function brokenOff(cause: unknown): ApiError {
  return new ApiError(400, 'the request body could not be read to its end', { cause });
}

function tooLarge(limit: number): ApiError {
  return new ApiError(413, `the body is larger than ${limit} bytes`, {
    applicationCode: 'PAYLOAD_TOO_LARGE',
    extra: { maxSize: limit },
  });
}

function requireJsonType(type: string | undefined): void {
  if (type === 'application/json') return;
  const [essence = '', ...parameters] = (type ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (essence === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8'))
    return;
  throw malformed(
    essence === 'application/json'
      ? 'Content-Type: the charset must be utf-8'
      : 'Content-Type must be application/json for a request with a body',
  );
}

function decode(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw malformed('the body is not valid UTF-8');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length > LARGE && holdsMoreValues(buffer, 2 * MOST_VALUES)) throw tooManyValues();
  return buffer.toString('utf8');
}

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the body, which may hold a secret.
    throw malformed('the body is not valid JSON');
  }
  // Only an escape can bring a lone surrogate or U+0000 into a string that was valid UTF-8.
  return clean(value, text.includes('\\u'), { left: MOST_VALUES });
}

function tooManyValues(): ApiError {
  return malformed(`the body holds more than ${MOST_VALUES} values`);
}

function malformed(message: string): ApiError {
  return new ApiError(400, message, { applicationCode: 'VALIDATION_ERROR' });
}

/** Drops the keys that reach prototypes, checks number, depth and strings. Values are replaced only where they must be. */
function clean(value: unknown, strings: boolean, budget: { left: number }, depth = 0): unknown {
  budget.left -= 1;
  if (budget.left < 0) throw tooManyValues();
  if (typeof value === 'string') return strings ? cleanString(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) throw malformed(`the body is nested more than ${DEEPEST} levels deep`);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      const cleaned = clean(item, strings, budget, depth + 1);
      if (cleaned !== item) value[index] = cleaned;
    }
    return value;
  }
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) {
    if (key === '__proto__' || key === 'constructor') {
      delete record[key];
      continue;
    }
    const item = record[key];
    const cleaned = clean(item, strings, budget, depth + 1);
    if (cleaned !== item) record[key] = cleaned;
    if (strings && !isPlain(key)) {
      delete record[key];
      record[cleanString(key)] = cleaned;
    }
  }
  return record;
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

function cleanString(text: string): string {
  if (text.includes('\u0000')) throw invalid('', 'strings must not contain U+0000');
  return text.isWellFormed() ? text : text.toWellFormed();
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
