import { createApi, createServices, toFetchHandler } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import type { ObjectStore } from '@questline/core/ports';
import type { FakeClock, ObjectsSubject } from '@questline/testing';

/** A store whose signed links are served by an api, as the object suite requires. */
export function servedObjects(
  objects: ObjectStore,
  clock: FakeClock,
): Required<Pick<ObjectsSubject, 'objects' | 'send'>> {
  const services = createServices(
    { ...createMemoryPorts({ clock }), models: [], objects },
    { jwtSecret: 'a'.repeat(64), publicUrl: 'http://questline.test' },
  );
  // The suite writes to any key, so the api must not look for the upload's record.
  const handle = toFetchHandler(createApi({ ...services, uploadWatches: [] }));
  const { objectLinks } = services;
  return {
    objects: {
      ...objects,
      signPut: (terms) => objectLinks.put(terms, ''),
      signPost: (terms) => objectLinks.post(terms, ''),
      signGet: (key, terms) => objectLinks.get(key, terms, ''),
    },
    async send({ method, url, headers, body }) {
      const init = { method, headers, ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }) };
      const response = await handle(new Request(url, init));
      if (response === undefined) throw new Error(`${url} is not served here`);
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: new Uint8Array(await response.arrayBuffer()),
      };
    },
  };
}
