import { hkdfSync } from 'node:crypto';
import { createOwnModels, type OwnModels } from '../models/own-models.ts';
import { createSecretBox, type SecretBox } from '../models/secret-box.ts';
import type { Ids } from '../ports/ids.ts';

/** Returns the bytes of a secret: 64 hexadecimal characters are 32 bytes, other text is UTF-8. */
export function secretBytes(secret: string | Uint8Array): Uint8Array {
  if (typeof secret !== 'string') return secret;
  return /^[0-9a-f]{64}$/i.test(secret) ? Buffer.from(secret, 'hex') : Buffer.from(secret, 'utf8');
}

/** Derives the same key in every process of a workspace. The key is independent of other uses of the secret. */
export function deriveTextKey(secret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'questline texts of requests', 32));
}

/** Creates the services for users' own provider keys. */
export function getOwnKeys(
  key: string,
  services: Omit<Parameters<typeof createOwnModels>[0], 'box'> & { readonly ids: Ids },
): { readonly secretBox: SecretBox; readonly ownModels: OwnModels } {
  const secretBox = createSecretBox(Buffer.from(key, 'hex'), services.ids);
  return { secretBox, ownModels: createOwnModels({ ...services, box: secretBox }) };
}
