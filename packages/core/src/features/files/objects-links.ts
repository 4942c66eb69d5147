import { createHmac } from 'node:crypto';
import type { DownloadOptions, ObjectStore, SignedUpload, UploadOptions } from '../../ports/objects.ts';
import { OBJECTS_PATH } from './objects-contract.ts';
import { createUrlSigner, type SignedGrant } from './signed-urls.ts';

/**
 * Signed links to objects: the store's own if it signs, else links to the api. `mountPath` is the path where the host
 * mounts the api, from the current call; only links to the api contain it.
 */
export interface ObjectLinks {
  put(options: UploadOptions, mountPath: string): Promise<SignedUpload>;
  post(options: UploadOptions, mountPath: string): Promise<SignedUpload>;
  /** @returns undefined when the store cannot sign. */
  get(key: string, options: DownloadOptions, mountPath: string): Promise<string | undefined>;
  /** Verifies a link to the api. @see UrlSigner */
  verify(action: SignedGrant['action'], fields: URLSearchParams, now: number): SignedGrant | undefined;
}

/**
 * @param options.secret source of the derived signing key, which serves no other purpose.
 * @param options.publicUrl prefix of links to the api. Absent: links are paths.
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
    put: async (options, mountPath) => objects.signPut?.(options) ?? signerAt(mountPath).signPut(options),
    post: async (options, mountPath) => objects.signPost?.(options) ?? signerAt(mountPath).signPost(options),
    get: async (key, options, mountPath) =>
      objects.signGet === undefined
        ? signerAt(mountPath).signGet(key, options)
        : objects.signGet(key, options),
    verify,
  };
}
