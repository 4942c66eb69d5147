import { describe, expect, it } from 'vitest';
import { createS3Objects } from '../src/index.ts';
import { inParts, PART_BYTES } from '../src/parts.ts';
import { hangUntilAborted, OPTIONS, type Received, stubService } from './service.ts';

const TEXT = { contentType: 'text/plain' };
const SIZE = PART_BYTES + 1;

async function* stream(size: number): AsyncGenerator<Uint8Array> {
  for (let rest = size; rest > 0; rest -= PART_BYTES) yield Buffer.alloc(Math.min(rest, PART_BYTES), 'a');
}

type Step = 'begin' | 'part' | 'end' | 'cancel' | 'look';

function toStep({ method, url }: Received): Step {
  if (method === 'POST') return url.searchParams.has('uploads') ? 'begin' : 'end';
  return method === 'PUT' ? 'part' : method === 'HEAD' ? 'look' : 'cancel';
}

/** A service that takes uploads in parts, with other answers for single steps. */
function partsService(others: Partial<Record<Step, () => Response>> = {}) {
  const received = stubService((request) => {
    const step = toStep(request);
    const other = others[step];
    if (other !== undefined) return other();
    if (step === 'begin') return new Response('<UploadId>u-1</UploadId>');
    if (step === 'part') {
      return new Response('', { headers: { etag: `"e${request.url.searchParams.get('partNumber')}"` } });
    }
    const headers = { 'content-length': String(SIZE), 'content-type': 'text/plain', etag: '"whole"' };
    return step === 'look' ? new Response(null, { headers }) : new Response('<Result/>');
  });
  return { received, objects: createS3Objects(OPTIONS), steps: () => received.map(toStep) };
}

it('writes a long stream in numbered parts and then puts them together', async () => {
  const { objects, received, steps } = partsService();
  expect(await objects.put('a', stream(2 * PART_BYTES + 1), TEXT)).toEqual({
    key: 'a',
    size: SIZE,
    contentType: 'text/plain',
    etag: 'whole',
  });
  expect(steps()).toEqual(['begin', 'part', 'part', 'part', 'end', 'look']);
  const [begin, ...rest] = received;
  expect([begin?.url.search, begin?.headers.get('content-type')]).toEqual(['?uploads=', 'text/plain']);
  expect(rest.slice(0, 4).map(({ url }) => url.search)).toEqual([
    '?partNumber=1&uploadId=u-1',
    '?partNumber=2&uploadId=u-1',
    '?partNumber=3&uploadId=u-1',
    '?uploadId=u-1',
  ]);
  expect(rest.slice(0, 3).map(({ body }) => body.length)).toEqual([PART_BYTES, PART_BYTES, 1]);
  const parts = [1, 2, 3].map((at) => `<Part><PartNumber>${at}</PartNumber><ETag>"e${at}"</ETag></Part>`);
  expect(rest[3]?.body.toString()).toBe(
    `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
  );
});

it('reads the answer to each part to its end, so that its connection is free', async () => {
  const answers: Response[] = [];
  const { objects } = partsService({
    part() {
      answers.push(new Response('text', { headers: { etag: '"e"' } }));
      return answers.at(-1) as Response;
    },
  });
  await objects.put('a', stream(SIZE), TEXT);
  expect(answers.map(({ bodyUsed }) => bodyUsed)).toEqual([true, true]);
});

it.each([
  [PART_BYTES, ['part']],
  [PART_BYTES + 1, ['begin', 'part', 'part', 'end', 'look']],
])('writes %s bytes with the requests %j', async (size, expected) => {
  const { objects, steps } = partsService();
  await objects.put('a', stream(size), TEXT);
  expect(steps()).toEqual(expected);
});

const breakOff = () => new Response(new ReadableStream({ start: (body) => body.error(new Error('reset')) }));
const refuse = () => new Response('<Code>AccessDenied</Code>', { status: 403 });

describe('an upload in parts that fails', () => {
  it.each([
    ['a part is refused', { part: refuse }, '403 (AccessDenied)', ['begin', 'part', 'cancel']],
    ['its end is refused', { end: refuse }, '403', ['begin', 'part', 'part', 'end', 'cancel']],
    [
      'its end fails after the status',
      { end: () => new Response('<Error></Error>') },
      'the object store could not put the parts together',
      ['begin', 'part', 'part', 'end', 'cancel'],
    ],
    ['it cannot be cancelled', { part: refuse, cancel: refuse }, 'PUT with 403', ['begin', 'part', 'cancel']],
    [
      'the answer to a part breaks off',
      { part: breakOff },
      'the object store broke off its answer',
      ['begin', 'part', 'cancel'],
    ],
    ['it does not begin', { begin: () => new Response('') }, 'the object store began no upload', ['begin']],
    [
      'nothing is found afterwards',
      { look: () => new Response(null, { status: 404 }) },
      'the object store lost what it has just taken',
      ['begin', 'part', 'part', 'end', 'look'],
    ],
  ] as const)('rejects and is cancelled when %s', async (_, others, message, expected) => {
    const { objects, received, steps } = partsService(others);
    await expect(objects.put('a', stream(SIZE), TEXT)).rejects.toThrow(message);
    expect(steps()).toEqual(expected);
    const cancel = received.find((request) => toStep(request) === 'cancel');
    expect(cancel?.url.search).toBe(steps().includes('cancel') ? '?uploadId=u-1' : undefined);
  });

  it.each(['begin', 'part'] as const)('closes its source when its %s is refused', async (step) => {
    const { objects } = partsService({ [step]: refuse });
    let isClosed = false;
    async function* body() {
      try {
        yield* stream(2 * PART_BYTES + 1);
      } finally {
        await new Promise((resolve) => setImmediate(resolve));
        isClosed = true;
      }
    }
    await expect(objects.put('a', body(), TEXT)).rejects.toThrow('403');
    expect(isClosed).toBe(true);
  });

  it.each(['begin', 'part', 'end'] as const)('is cancelled when the caller leaves at its %s', async (at) => {
    const leaving = new AbortController();
    const received = stubService((request) => {
      if (toStep(request) === at) {
        leaving.abort(new Error('left'));
        return hangUntilAborted(request);
      }
      return new Response('<UploadId>u-1</UploadId>');
    });
    const put = createS3Objects(OPTIONS).put('a', stream(SIZE), TEXT, { signal: leaving.signal });
    await expect(put).rejects.toThrow('left');
    expect(received.filter((request) => toStep(request) === 'cancel')).toHaveLength(at === 'begin' ? 0 : 1);
    expect(received.some((request) => toStep(request) === 'look')).toBe(false);
  });
});

it.each([
  ['one chunk', ['abcdefg'], ['abc', 'def', 'g']],
  ['chunks that end with a part', ['ab', 'c', 'def'], ['abc', 'def']],
  ['chunks across parts', ['ab', '', 'cdef', 'g'], ['abc', 'def', 'g']],
  ['no bytes', ['', ''], []],
])('cuts %s into parts of one size', async (_, chunks, expected) => {
  const shared = Buffer.alloc(8);
  async function* body() {
    for (const chunk of chunks) {
      shared.write(chunk);
      yield shared.subarray(0, chunk.length);
    }
  }
  const parts: string[] = [];
  for await (const part of inParts(body(), 3, undefined)) parts.push(Buffer.from(part).toString());
  expect(parts).toEqual(expected);
});
