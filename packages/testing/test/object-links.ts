import { attachmentDisposition, createUrlSigner, type UrlSigner } from '@questline/core/internal';
import type { ObjectStore } from '@questline/core/ports';
import type { SignedAnswer, SignedRequest, SuiteTime } from '@questline/testing';

/** A store whose links can have a defect. */
export interface LinkedObjects extends ObjectStore, Pick<UrlSigner, 'verify'> {}

export function linked(objects: ObjectStore): LinkedObjects {
  const secret = 'a secret of thirty-two bytes, for tests';
  const signer = createUrlSigner({ baseUrl: 'http://localhost/objects', secret });
  return {
    ...objects,
    signPut: async (terms) => signer.signPut(terms),
    signPost: async (terms) => signer.signPost(terms),
    signGet: async (key, terms) => signer.signGet(key, terms),
    verify: signer.verify,
  };
}

/**
 * Serves the signed links of such a store, as its route does. @param rules.checksSize false plants a defect:
 * a link then accepts any number of bytes.
 */
export function serveLinks(objects: LinkedObjects, time: SuiteTime, { checksSize = true } = {}) {
  return async ({ method, url, headers, body }: SignedRequest): Promise<SignedAnswer> => {
    if (method === 'GET') return download(objects, new URL(url).searchParams, time);
    if (method === 'PUT') {
      const grant = objects.verify('put', new URL(url).searchParams, time.now());
      const bytes = body instanceof Uint8Array ? body : new Uint8Array(0);
      if (grant?.action !== 'put') return answer(403);
      if (headers['content-type'] !== grant.contentType) return answer(400);
      return upload(objects, { ...grant, size: checksSize ? grant.size : bytes.length }, bytes);
    }
    const fields = new URLSearchParams();
    let bytes = new Uint8Array(0);
    for (const [name, value] of body instanceof FormData ? body.entries() : []) {
      if (typeof value === 'string') fields.set(name, value);
      else bytes = new Uint8Array(await value.arrayBuffer());
    }
    const grant = objects.verify('post', fields, time.now());
    if (grant?.action !== 'post') return answer(403);
    return upload(objects, { ...grant, size: checksSize ? grant.size : bytes.length }, bytes);
  };
}

async function upload(
  objects: ObjectStore,
  { key, contentType, size }: { key: string; contentType: string; size: number },
  bytes: Uint8Array,
): Promise<SignedAnswer> {
  if (bytes.length !== size) return answer(400);
  await objects.put(key, bytes, { contentType, size });
  return answer(204);
}

async function download(
  objects: LinkedObjects,
  query: URLSearchParams,
  time: SuiteTime,
): Promise<SignedAnswer> {
  const grant = objects.verify('get', query, time.now());
  if (grant?.action !== 'get') return answer(403);
  const content = await objects.get(grant.key);
  if (content === undefined) return answer(404);
  const parts: Uint8Array[] = [];
  for await (const part of content.body) parts.push(part);
  return answer(
    200,
    {
      'content-type': grant.contentType ?? content.contentType,
      ...(grant.attachment !== undefined && {
        'content-disposition': attachmentDisposition(grant.attachment),
      }),
    },
    Buffer.concat(parts),
  );
}

function answer(
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body: Uint8Array = new Uint8Array(0),
): SignedAnswer {
  return { status, headers, body };
}
