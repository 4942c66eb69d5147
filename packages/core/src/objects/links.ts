import { createHmac } from 'node:crypto';
import type { DownloadTerms, ObjectStore, SignedUpload, UploadTerms } from '../ports/objects.ts';
import { OBJECTS_PATH } from './contract.ts';
import { createUrlSigner, type SignedGrant } from './signed-urls.ts';

/**
 * Signed links to objects: the store's own where it signs, else to the api. `mountPath` is where the api is mounted in
 * the host, as the call it is made for says; it stands in links to the api only.
 */
export interface ObjectLinks {
  put(terms: UploadTerms, mountPath: string): Promise<SignedUpload>;
  post(terms: UploadTerms, mountPath: string): Promise<SignedUpload>;
  /** @returns undefined when the store cannot sign. */
  get(key: string, terms: DownloadTerms, mountPath: string): Promise<string | undefined>;
  /** Checks a link to the api that came back. @see UrlSigner */
  verify(action: SignedGrant['action'], fields: URLSearchParams, now: number): SignedGrant | undefined;
}

/**
 * @param options.secret what the key of the signatures is derived from: so it is good for nothing else.
 * @param options.publicUrl goes in front of links to the api. Absent: they are paths.
 */
export function createObjectLinks(options: {
  readonly objects: ObjectStore;
  readonly secret: Uint8Array;
  readonly publicUrl: string | undefined;
}): ObjectLinks {
  const { objects } = options;
  const secret = createHmac('sha256', options.secret).update('questline: links to objects').digest();
  const origin = options.publicUrl?.replace(/\/+$/, '') ?? '';
  const signerAt = (mountPath: string) =>
    createUrlSigner({ baseUrl: `${origin}${mountPath}${OBJECTS_PATH}`, secret });
  const { verify } = signerAt('');

  return {
    put: async (terms, mountPath) => objects.signPut?.(terms) ?? signerAt(mountPath).signPut(terms),
    post: async (terms, mountPath) => objects.signPost?.(terms) ?? signerAt(mountPath).signPost(terms),
    get: async (key, terms, mountPath) =>
      objects.signGet === undefined ? signerAt(mountPath).signGet(key, terms) : objects.signGet(key, terms),
    verify,
  };
}
