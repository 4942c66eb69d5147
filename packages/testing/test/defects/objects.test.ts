import { createMemoryObjects } from '@questline/core/memory';
import type { ObjectStore } from '@questline/core/ports';
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

/** Writes chunks as they arrive, like a file that is opened and written directly. */
function inPlace(sound: ObjectStore): ObjectStore['put'] {
  return async (key, body, about, options) => {
    let written = new Uint8Array(0);
    for await (const part of body instanceof Uint8Array ? getHalves(body) : body) {
      written = Uint8Array.from(Buffer.concat([written, part]));
      await sound.put(key, written, about.size === undefined ? about : { contentType: about.contentType });
      await gap();
      options?.signal?.throwIfAborted();
    }
    return sound.put(key, written, about);
  };
}

async function* getHalves(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, bytes.length / 2);
  yield bytes.subarray(bytes.length / 2);
}

defectTests('object store', objectsCases, [
  defect(
    'writes in place',
    [
      'keeps the old object when a body fails or has another size',
      'keeps one whole object of parallel puts and never shows readers a part',
      'keeps the old object and releases the body when a put is aborted during its body',
    ],
    (sound) => ({ put: inPlace(sound) }),
  ),
  defect(
    'trusts the announced size',
    ['keeps the old object when a body fails or has another size'],
    (sound) => ({
      put: (key, body, { contentType }, options) => sound.put(key, body, { contentType }, options),
    }),
  ),
  defect(
    'excludes the end of a range',
    ['reads a range with both ends, at most to the end of the object'],
    (sound) => ({
      get: (key, range, options) =>
        sound.get(key, range && { start: range.start, end: Math.max(range.start, range.end - 1) }, options),
    }),
  ),
  defect(
    'keeps the same etag for other bytes',
    ['replaces the object and its etag on a second put'],
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
  defect('never expires its links', ['expires links'], (sound) => ({
    verify: (action, fields) => sound.verify(action, fields, 0),
  })),
  defect(
    'does not sign the size',
    ['rejects another size, type or key on an upload link', 'rejects another size or key on an upload form'],
    () => ({}),
    { checksSize: false },
  ),
  defect('does not sign the key', ['limits a download link to reading one object'], (sound) => ({
    verify: (action, fields, now) => {
      const asked = fields.get('key') ?? '';
      fields.set('key', 'uploads/1');
      const grant = sound.verify(action, fields, now);
      return grant && { ...grant, key: asked };
    },
  })),
  defect('accepts any key', ['accepts only keys in its format'], (sound) => ({
    put: (key, ...rest) =>
      sound.put(/^[a-z0-9/_-]+$/.test(key) && !/^\/|\/$|\/\//.test(key) ? key : 'any', ...rest),
  })),
]);
