import type { ApiError } from '../shared/errors.ts';
import { isBase64 } from './base64.ts';

/** Creates the error about a field. */
export type FieldIssue = (path: string, message: string) => ApiError;

const DATA_URL = /^data:(([a-z0-9.+-]+\/[a-z0-9.+-]+)(?:;[a-z0-9-]+=[^;,]{0,100})?);base64,/i;

/** Reads `data:<media type>;base64,<data>`. @throws ApiError of `issue`. */
export function parseDataUrl(
  url: string,
  path: string,
  issue: FieldIssue,
): {
  /** Type and subtype, lower case. */
  readonly mediaType: string;
  /** The type with its parameter, as it is written. */
  readonly contentType: string;
  readonly data: string;
} {
  const [start, contentType, mediaType] = DATA_URL.exec(url.slice(0, 300)) ?? [];
  if (start === undefined || contentType === undefined || mediaType === undefined) {
    throw issue(path, 'expected a data URL: data:<media type>;base64,<data>');
  }
  const data = url.slice(start.length);
  if (!isBase64(data)) throw issue(path, 'the data of the URL is not base64');
  return { mediaType: mediaType.toLowerCase(), contentType, data };
}
