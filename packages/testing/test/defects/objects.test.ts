import type { ObjectStore } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { createFakeClock, fakeTime, type ObjectsSubject, objectsCases } from '@questline/testing';
import { type LinkedObjects, linked, serveLinks } from '../object-links.ts';
import { type Defect, defectTests, gap } from './red.ts';

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: LinkedObjects) => Partial<LinkedObjects>,
  route: { readonly checksSize?: boolean } = {},
): Defect<ObjectsSubject> {
  return {
    name,
    red,
    create: async () => {
      const time = fakeTime(createFakeClock());
      const sound = linked(createMemoryObjects());
      const objects = { ...sound, ...spoil(sound) };
      return { objects, send: serveLinks(objects, time, route), time };
    },
  };
}

/** Writes what has arrived so far, bit by bit, as a file that is simply opened and written would. */
function inPlace(sound: ObjectStore): ObjectStore['put'] {
  return async (key, body, about) => {
    let written = new Uint8Array(0);
    for await (const part of body instanceof Uint8Array ? halvesOf(body) : body) {
      written = Uint8Array.from(Buffer.concat([written, part]));
      await sound.put(key, written, about.size === undefined ? about : { contentType: about.contentType });
      await gap();
    }
    return sound.put(key, written, about);
  };
}

async function* halvesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, bytes.length / 2);
  yield bytes.subarray(bytes.length / 2);
}

defectTests('object store', objectsCases, [
  defect(
    'writes in place',
    [
      'a body that fails or is not of its size leaves the old object',
      'of parallel puts to one key one stays, whole, and readers never see a part',
      'a put aborted amid its body leaves the old object and lets go of the body',
    ],
    (sound) => ({ put: inPlace(sound) }),
  ),
  defect(
    'believes the announced size',
    ['a body that fails or is not of its size leaves the old object'],
    (sound) => ({
      put: (key, body, { contentType }, options) => sound.put(key, body, { contentType }, options),
    }),
  ),
  defect(
    'leaves the end out of a range',
    ['a range has both its ends, and ends with the object at the latest'],
    (sound) => ({
      get: (key, range, options) =>
        sound.get(key, range && { start: range.start, end: Math.max(range.start, range.end - 1) }, options),
    }),
  ),
  defect(
    'keeps the same etag for other bytes',
    ['a second put replaces the object, and its etag with the bytes'],
    (sound) => ({
      put: async (...given) => ({ ...(await sound.put(...given)), etag: 'same' }),
      head: async (key) => {
        const info = await sound.head(key);
        return info && { ...info, etag: 'same' };
      },
      get: async (...given) => {
        const content = await sound.get(...given);
        return content && { ...content, etag: 'same' };
      },
    }),
  ),
  defect('lets its links live on', ['links end'], (sound) => ({
    verify: (action, fields) => sound.verify(action, fields, 0),
  })),
  defect(
    'does not sign the size',
    [
      'a link to put refuses another size, another type and another key',
      'a form to post refuses another size and another key',
    ],
    () => ({}),
    { checksSize: false },
  ),
  defect('does not sign the key', ['a link to get opens one object, and only to read'], (sound) => ({
    verify: (action, fields, now) => {
      const asked = fields.get('key') ?? '';
      fields.set('key', 'uploads/1');
      const grant = sound.verify(action, fields, now);
      return grant && { ...grant, key: asked };
    },
  })),
  defect('accepts any key', ['only keys of ours are accepted'], (sound) => ({
    put: (key, ...rest) =>
      sound.put(/^[a-z0-9/_-]+$/.test(key) && !/^\/|\/$|\/\//.test(key) ? key : 'any', ...rest),
  })),
]);
