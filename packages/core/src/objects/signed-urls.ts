import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DownloadTerms, SignedUpload, UploadTerms } from '../ports/objects.ts';

/** What a signed link allows, once it has been checked. */
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

/** Signs links to objects, and checks those that come back. For stores whose bytes are served by this process. */
export interface UrlSigner {
  signPut(terms: UploadTerms): SignedUpload;
  signPost(terms: UploadTerms): SignedUpload;
  signGet(key: string, terms: DownloadTerms): string;
  /**
   * Checks the query of a GET or PUT, or the form fields of a POST, at an instant.
   * @returns undefined when the signature is wrong, of another action, or expired.
   */
  verify(action: SignedGrant['action'], fields: URLSearchParams, now: number): SignedGrant | undefined;
}

/** Every field that is signed, in the order it is signed in. */
const FIELDS = ['key', 'expires', 'type', 'size', 'attachment'] as const;

/**
 * @param options.baseUrl where the bytes are served, without a trailing slash; it stands in front of `?key=...`.
 * @param options.secret at least 32 bytes; whoever knows it can read and write every object.
 */
export function createUrlSigner(options: { baseUrl: string; secret: Uint8Array | string }): UrlSigner {
  const { baseUrl, secret } = options;
  if (Buffer.byteLength(secret) < 32) throw new RangeError('the secret for signed links is too short');

  const signature = (action: string, fields: URLSearchParams): Buffer => {
    // A list keeps its members apart whatever stands in them.
    const signed = JSON.stringify([action, ...FIELDS.map((field) => fields.get(field))]);
    return createHmac('sha256', secret).update(signed).digest();
  };

  const sign = (action: SignedGrant['action'], fields: URLSearchParams): URLSearchParams => {
    fields.set('signature', signature(action, fields).toString('base64url'));
    return fields;
  };

  const uploadFields = ({ key, contentType, size, expiresAt }: UploadTerms): URLSearchParams =>
    new URLSearchParams({ key, expires: String(expiresAt), type: contentType, size: String(size) });

  return {
    signPut(terms) {
      const query = sign('put', uploadFields(terms));
      return {
        url: `${baseUrl}?${query}`,
        fields: { 'content-type': terms.contentType },
        expiresAt: terms.expiresAt,
      };
    },

    signPost(terms) {
      const fields = sign('post', uploadFields(terms));
      return { url: baseUrl, fields: Object.fromEntries(fields), expiresAt: terms.expiresAt };
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
