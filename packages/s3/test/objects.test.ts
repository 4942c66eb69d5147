import type { ObjectStore } from '@questline/core/ports';
import { type ObjectsSubject, objectsSuite, realTime } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createS3Objects } from '../src/index.ts';
import { findServer } from './server.ts';

const server = await findServer();
let run = 0;

/** Forms are compared with the published example instead: see forms.test.ts. */
const NO_FORMS = 'the S3 API of the server these tests use has no POST of objects';

/**
 * The server of these tests, Swift, answers 404 for a moment when a version that it was about to open has
 * been replaced: its object server lists the versions first and then opens one of them. S3 itself guarantees
 * the old object or the new one.
 */
const ASKS = 5;

function askingAgain(objects: ObjectStore): ObjectStore {
  const again = async <T>(ask: () => Promise<T | undefined>): Promise<T | undefined> => {
    for (let asked = 1; asked < ASKS; asked += 1) {
      const found = await ask();
      if (found !== undefined) return found;
    }
    return ask();
  };
  return {
    ...objects,
    head: (...query) => again(() => objects.head(...query)),
    get: (...query) => again(() => objects.get(...query)),
  };
}

const send: NonNullable<ObjectsSubject['send']> = async ({ method, url, headers, body }) => {
  const response = await fetch(url, {
    method,
    headers,
    ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> | FormData }),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: new Uint8Array(await response.arrayBuffer()),
  };
};

if (server === undefined) {
  describe('object store on S3', () => {
    it.skip('(not run: no S3-compatible server on 127.0.0.1:58090, and QUESTLINE_TEST_S3_URL is not set)');
  });
} else {
  objectsSuite({
    name: 'S3',
    create: async () => {
      run += 1;
      return {
        objects: askingAgain(createS3Objects({ ...server, prefix: `run${run}/` })),
        send,
        // Links have a resolution of seconds.
        time: realTime({ unit: 1500 }),
      };
    },
    skip: {
      'accepts the bytes of an upload form': NO_FORMS,
      'rejects another size or key on an upload form': NO_FORMS,
    },
    runs: 3,
    timeoutMs: 120_000,
  });

  describe('objects on S3', () => {
    const objects = createS3Objects({ ...server, prefix: 'own/' });

    it('stores an object of several parts and of unknown size', async () => {
      const piece = new Uint8Array(1_000_003).fill(7);
      async function* body() {
        for (let count = 0; count < 19; count += 1) yield piece.fill(count);
      }
      const info = await objects.put('large', body(), { contentType: 'video/mp4' });
      expect(info).toMatchObject({ size: 19 * 1_000_003, contentType: 'video/mp4' });
      const content = await objects.get('large', { start: 18 * 1_000_003 - 1, end: 18 * 1_000_003 });
      const bytes: number[] = [];
      for await (const part of content?.body ?? []) bytes.push(...part);
      expect(bytes).toEqual([17, 18]);
    }, 120_000);

    it('leaves nothing when an upload breaks off after its first part', async () => {
      async function* body() {
        for (let count = 0; count < 18; count += 1) yield new Uint8Array(1_000_000);
        throw new Error('the uploader disconnected');
      }
      await expect(objects.put('broken', body(), { contentType: 'video/mp4' })).rejects.toThrow(
        'disconnected',
      );
      expect(await objects.head('broken')).toBeUndefined();
    }, 120_000);

    it('reports rejected credentials without exposing them', async () => {
      const wrong = createS3Objects({ ...server, secretAccessKey: 'MARKED-SECRET' });
      const failure = await wrong.put('a', new Uint8Array(1), { contentType: 'text/plain' }).then(
        () => 'was accepted',
        (error: unknown) => String(error),
      );
      expect(failure).toBe('S3Failure: the object store answered PUT with 403 (SignatureDoesNotMatch)');
    }, 120_000);
  });
}
