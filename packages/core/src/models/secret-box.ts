import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Ids } from '../ports/ids.ts';

/** Encrypts secrets and binds them to their record. */
export interface SecretBox {
  /** @param place the record of the secret, as associated data: decryption needs the same value. */
  seal(secret: string, place: readonly string[]): string;
  /** @returns undefined if the key or the place differs or the data was modified. */
  open(sealed: string, place: readonly string[]): string | undefined;
}

/** Format version, the prefix of encrypted text, so that other formats can be added. */
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Uses AES-256-GCM with a new nonce per encryption. @param key 32 bytes. */
export function createSecretBox(key: Uint8Array, ids: Pick<Ids, 'bytes'>): SecretBox {
  const about = (place: readonly string[]): Buffer => Buffer.from(JSON.stringify([VERSION, ...place]));

  return {
    seal(secret, place) {
      const nonce = ids.bytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(about(place));
      const parts = [nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `${VERSION}.${Buffer.concat(parts).toString('base64url')}`;
    },

    open(sealed, place) {
      const [version, text = ''] = sealed.split('.');
      const bytes = Buffer.from(text, 'base64url');
      if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(about(place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}
