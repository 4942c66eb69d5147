import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DownloadOptions, SignedUpload, UploadOptions } from '../../ports/objects.ts';

/** The grant of a verified link. */
export type SignedGrant =
  | {
      readonly action: 'get';
      readonly key: string;
      readonly contentType?: string;
      readonly attachment?: string;
    }
  | {
      readonly action: 'put' | 'post';
      readonly key: string;
      readonly contentType: string;
      readonly size: number;
    };

/** Signs links to objects, and verifies them. For stores whose bytes this process serves. */
export interface UrlSigner {
  signPut(options: UploadOptions): SignedUpload;
  signPost(options: UploadOptions): SignedUpload;
  signGet(key: string, options: DownloadOptions): string;
  /**
   * Verifies the query of a GET or PUT, or the form fields of a POST, at a point in time.
   * @returns undefined when the signature is wrong, for another action, or expired.
   */
  verify(action: SignedGrant['action'], fields: URLSearchParams, now: number): SignedGrant | undefined;
}

/** The signed fields, in the order of the signature. */
const FIELDS = ['key', 'expires', 'type', 'size', 'attachment'] as const;

/**
 * @param options.baseUrl where the bytes are served, without a trailing slash; prefix of `?key=...`.
 * @param options.secret at least 32 bytes; it gives read and write access to every object.
 */
export function createUrlSigner(options: { baseUrl: string; secret: Uint8Array | string }): UrlSigner {
  const { baseUrl, secret } = options;
  if (Buffer.byteLength(secret) < 32) throw new RangeError('the secret for signed links is too short');

  const signature = (action: string, fields: URLSearchParams): Buffer => {
    // JSON keeps the fields separate, whatever they contain.
    const signed = JSON.stringify([action, ...FIELDS.map((field) => fields.get(field))]);
    return createHmac('sha256', secret).update(signed).digest();
  };

  const sign = (action: SignedGrant['action'], fields: URLSearchParams): URLSearchParams => {
    fields.set('signature', signature(action, fields).toString('base64url'));
    return fields;
  };

  const uploadFields = ({ key, contentType, size, expiresAt }: UploadOptions): URLSearchParams =>
    new URLSearchParams({ key, expires: String(expiresAt), type: contentType, size: String(size) });

  return {
    signPut(options) {
      const query = sign('put', uploadFields(options));
      return {
        url: `${baseUrl}?${query}`,
        fields: { 'content-type': options.contentType },
        expiresAt: options.expiresAt,
      };
    },

    signPost(options) {
      const fields = sign('post', uploadFields(options));
      return { url: baseUrl, fields: Object.fromEntries(fields), expiresAt: options.expiresAt };
    },

    signGet(key, { expiresAt, contentType, attachment }) {
      const query = new URLSearchParams({ key, expires: String(expiresAt) });
      if (contentType !== undefined) query.set('type', contentType);
      if (attachment !== undefined) query.set('attachment', attachment);
      return `${baseUrl}?${sign('get', query)}`;
    },

    verify(action, fields, now) {
      const given = Buffer.from(fields.get('signature') ?? '', 'base64url');
      const wanted = signature(action, fields);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
      if (!(Number(fields.get('expires')) > now)) return undefined;
      const key = fields.get('key') ?? '';
      const contentType = fields.get('type');
      if (action !== 'get') {
        return { action, key, contentType: contentType ?? '', size: Number(fields.get('size')) };
      }
      const attachment = fields.get('attachment');
      return {
        action,
        key,
        ...(contentType !== null && { contentType }),
        ...(attachment !== null && { attachment }),
      };
    },
  };
}
