import { isUtf8 } from 'node:buffer';
import { setImmediate as turn } from 'node:timers/promises';
import { type ApiRequest, type BodyTooLarge, header } from '../contract/message.ts';
import { ApiError, invalid, isApiError } from '../shared/errors.ts';
import { decodeBody, parseEncoding } from './encoding.ts';
import { holdsMoreValues } from './json-size.ts';

/** Maximum nesting depth of JSON. Protects recursive code. */
const MAX_DEPTH = 100;

/**
 * Maximum number of JSON values, checked before validation: validation visits each value, so a body of commas and
 * digits would cost thousands of times its size.
 */
const MAX_VALUES = 100_000;

/** Maximum properties of one object. Larger objects become slow hash tables. */
const MAX_PROPERTIES = 10_000;

/** Size in bytes above which values are counted before parsing, with pauses for other requests. */
const LARGE = 2 ** 18;

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const MAX_FORM_FIELDS = 100;

export const DEFAULT_BODY_LIMIT = 2 ** 20;

export interface LargerBodies {
  /** Maximum size in bytes. */
  readonly limit: number;
  matches(value: unknown): boolean;
}

export interface BodyOptions {
  /** Maximum size in bytes. */
  readonly limit: number;
  /** Bodies that may be larger. */
  readonly larger?: LargerBodies | undefined;
  /** Also accepts `application/x-www-form-urlencoded`. */
  readonly allowsForm?: boolean;
}

/**
 * Parses the JSON body of a request. Always returns an object; `{}` for an empty body.
 * @throws ApiError 413 too large; 400 not JSON, not UTF-8, nested too deeply, wrong content type, a repeated form field;
 * 422 not an object, or U+0000 in a string.
 */
export async function readJson(request: ApiRequest, options: BodyOptions): Promise<Record<string, unknown>> {
  const { parsed } = request.body;
  const { limit, larger } = options;
  if (parsed !== undefined && typeof parsed !== 'string' && !(parsed instanceof Uint8Array)) {
    return requireObject(clean(parsed, true, { left: MAX_VALUES }));
  }
  let raw = parsed;
  if (raw === undefined) {
    const largest = larger?.limit ?? limit;
    try {
      raw = await request.body.bytes(largest);
      if (raw.length > 0 && request.headers['content-encoding'] !== undefined) {
        raw = await decompress(request, raw, largest);
      }
    } catch (error) {
      throw unreadable(error);
    }
  }
  if (raw.length === 0) return {};
  const found =
    larger === undefined || raw.length <= limit
      ? parseRaw(request, raw, options)
      : parseLarger(request, raw, options, larger);
  return requireObject(found instanceof Promise ? await found : found);
}

function requireObject(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('', `the body must be a JSON object, got ${getKind(value)}`);
  }
  return value as Record<string, unknown>;
}

/** Whether the request has a body, for operations without one. In some hosts the headers are not enough. */
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

async function parseLarger(
  request: ApiRequest,
  raw: string | Uint8Array,
  options: BodyOptions,
  larger: LargerBodies,
): Promise<unknown> {
  const value = await (async () => parseRaw(request, raw, options))().catch(() => undefined);
  if (!larger.matches(value)) throw tooLarge(options.limit);
  return value;
}

/** A promise only for a large body. */
function parseRaw(
  { headers }: ApiRequest,
  raw: string | Uint8Array,
  { allowsForm = false }: BodyOptions,
): unknown {
  const type = requireType(header(headers, 'content-type'), allowsForm);
  const text = typeof raw === 'string' ? raw : decode(raw);
  if (type === FORM) return clean(parseForm(text), true, { left: MAX_VALUES });
  return raw.length < LARGE ? cleanParsed(text, parse(text)) : parseSlowly(text);
}

/** Each pass over a large body may take tens of milliseconds, so yields to other requests in between. */
async function parseSlowly(text: string): Promise<unknown> {
  await turn();
  const value = parse(text);
  await turn();
  const cleaned = cleanParsed(text, value);
  await turn();
  return cleaned;
}

function unreadable(error: unknown): ApiError {
  if (isApiError(error)) return error;
  return isTooLarge(error) ? tooLarge(error.limit) : brokenOff(error);
}

async function decompress({ headers }: ApiRequest, bytes: Uint8Array, limit: number): Promise<Uint8Array> {
  const encoding = parseEncoding(header(headers, 'content-encoding'));
  if (encoding === undefined) return bytes;
  if (encoding === 'unsupported') throw malformed('Content-Encoding must be gzip, deflate, br or absent');
  const decoded = await decodeBody(bytes, encoding, limit);
  if (decoded === 'too-large') throw tooLarge(limit);
  if (decoded === 'malformed') throw malformed(`Content-Encoding: the body is not valid ${encoding}`);
  return decoded;
}

function isTooLarge(error: unknown): error is BodyTooLarge {
  return error instanceof Error && error.name === 'BodyTooLarge';
}

/** The client disconnected during its upload; it does not receive this response. */
function brokenOff(cause: unknown): ApiError {
  return new ApiError(400, 'the request body could not be read to its end', { cause });
}

function tooLarge(limit: number): ApiError {
  return new ApiError(413, `the body is larger than ${limit} bytes`, {
    applicationCode: 'PAYLOAD_TOO_LARGE',
    extra: { maxSize: limit },
  });
}

/** @throws ApiError 400 for another type or charset. */
function requireType(type: string | undefined, allowsForm: boolean): typeof JSON_TYPE | typeof FORM {
  if (type === JSON_TYPE) return JSON_TYPE;
  const [essence = '', ...parameters] = (type ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (essence !== JSON_TYPE && !(allowsForm && essence === FORM)) {
    const allowed = allowsForm ? `${JSON_TYPE} or ${FORM}` : JSON_TYPE;
    throw malformed(`Content-Type must be ${allowed} for a request with a body`);
  }
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw malformed('Content-Type: the charset must be utf-8');
  }
  return essence;
}

/** Parses a form. RFC 6749, section 3.2: a parameter must not occur more than once. */
function parseForm(text: string): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    // The name is the client's, and is not quoted.
    if (fields.has(name)) throw malformed('a form field occurs more than once');
    if (fields.size === MAX_FORM_FIELDS) throw malformed(`a form has at most ${MAX_FORM_FIELDS} fields`);
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

function decode(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw malformed('the body is not valid UTF-8');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length > LARGE && holdsMoreValues(buffer, 2 * MAX_VALUES)) throw tooManyValues();
  return buffer.toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the body, which may contain a secret.
    throw malformed('the body is not valid JSON');
  }
}

/** In valid UTF-8, only an escape sequence can produce a lone surrogate or U+0000. */
function cleanParsed(text: string, value: unknown): unknown {
  return clean(value, text.includes('\\u'), { left: MAX_VALUES });
}

function tooManyValues(): ApiError {
  return malformed(`the body holds more than ${MAX_VALUES} values`);
}

function malformed(message: string): ApiError {
  return new ApiError(400, message, { applicationCode: 'VALIDATION_ERROR' });
}

/** Removes keys that could change a prototype and checks count, depth and strings. Copies only changed values. */
function clean(value: unknown, strings: boolean, budget: { left: number }, depth = 0): unknown {
  budget.left -= 1;
  if (budget.left < 0) throw tooManyValues();
  if (typeof value === 'string') return strings ? cleanString(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) throw malformed(`the body is nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      const cleaned = clean(item, strings, budget, depth + 1);
      if (cleaned !== item) value[index] = cleaned;
    }
    return value;
  }
  const record = value as Record<string, unknown>;
  const keys = Object.keys(record);
  if (keys.length > MAX_PROPERTIES) {
    throw malformed(`the body holds an object of more than ${MAX_PROPERTIES} properties`);
  }
  for (const key of keys) {
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

function getKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
