import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Ids } from '../ports/ids.ts';

/** Keeps secrets that must be read again, encrypted and bound to the place they belong to. */
export interface SecretBox {
  /** @param place what the secret belongs to: it can be opened for nothing else. */
  seal(secret: string, place: readonly string[]): string;
  /** @returns undefined when it was sealed under another key, for another place, or was changed. */
  open(sealed: string, place: readonly string[]): string | undefined;
}

/** The first word of what is sealed says how, so that another way can be brought in beside it. */
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with a fresh nonce for every sealing. @param key 32 bytes. */
export function createSecretBox(key: Uint8Array, ids: Ids): SecretBox {
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
