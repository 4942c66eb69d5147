import type { GenerateOptions, Json, MediaJobs, VideoRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { makeFile } from './gemini/files.ts';
import { createVideos as createGeminiVideos } from './gemini/videos.ts';
import type { Upstream, UpstreamCall } from './http/upstream.ts';
import { createVideos as createOpenAIVideos } from './openai/videos.ts';
import { createVideos as createXAIVideos } from './xai/videos.ts';

const VENDORS = { gemini: createGeminiVideos, openai: createOpenAIVideos, xai: createXAIVideos };
const access = ({ signal }: GenerateOptions) => ({ key: 'k', headers: ['x-key', 'k'], signal });

/** The jobs of a vendor that gives one answer, and the calls that it gets. */
function connect(vendor: keyof typeof VENDORS, answer?: unknown) {
  const calls: (Omit<UpstreamCall, 'path'> & { readonly path: string | URL })[] = [];
  const upstream = {
    async job(call: UpstreamCall) {
      calls.push(call);
      return answer;
    },
    async download(call: Omit<UpstreamCall, 'path'>, path: string | URL) {
      calls.push({ ...call, path });
      return { mediaType: 'video/mp4', body: [] };
    },
  } as unknown as Upstream;
  const jobs: MediaJobs<VideoRequest> = VENDORS[vendor](upstream, access);
  return { jobs, calls };
}

const OPERATION = 'models/veo/operations/a-1';
const FILE = { uri: 'https://host.example/v1beta/files/abc-1:download?alt=media' };
const outputs = (...content: object[]) => ({
  status: 'completed',
  steps: [{ type: 'model_output', content }],
});
const operation = (generateVideoResponse: object) => ({ done: true, response: { generateVideoResponse } });

describe('video job', () => {
  it.each<[keyof typeof VENDORS, string, unknown, object]>([
    ['openai', 'j', { status: 'queued' }, { state: 'waiting' }],
    ['openai', 'j', { status: 'in_progress', progress: 50 }, { state: 'running', progress: 0.5 }],
    ['openai', 'j', { status: 'new' }, { state: 'running' }],
    [
      'openai',
      'j',
      { status: 'completed', seconds: '4' },
      { state: 'done', output: { id: 'j' }, durationSeconds: 4 },
    ],
    ['openai', 'j', { status: 'completed', seconds: 0 }, { state: 'done', output: { id: 'j' } }],
    ['openai', 'j', { status: 'completed', seconds: 86_400 }, { state: 'done', output: { id: 'j' } }],
    ['openai', 'j', { status: 'completed' }, { state: 'done', output: { id: 'j' } }],
    [
      'openai',
      'j',
      { status: 'completed', seconds: '0.5' },
      { state: 'done', output: { id: 'j' }, durationSeconds: 0.5 },
    ],
    [
      'openai',
      'j',
      { status: 'failed', error: { code: 'oh', message: 'No' } },
      { state: 'failed', message: 'oh: No' },
    ],
    ['openai', 'j', { status: 'cancelled' }, { state: 'failed', message: 'cancelled' }],
    ['openai', 'j', { status: 'expired' }, { state: 'failed', message: 'expired' }],
    [
      'openai',
      'j',
      { status: 'failed', error: { code: 'invalid_prompt' } },
      { state: 'blocked', message: 'invalid_prompt' },
    ],
    ['xai', 'j', { status: 'pending', progress: 0 }, { state: 'waiting', progress: 0 }],
    ['xai', 'j', { status: 'working' }, { state: 'running' }],
    ['xai', 'j', { status: 'working', video: { url: 'u' } }, { state: 'running' }],
    ['xai', 'j', {}, { state: 'running' }],
    ['xai', 'j', { video: { url: 'u' } }, { state: 'done', output: { url: 'u' } }],
    [
      'xai',
      'j',
      { status: 'done', video: { url: 'u', duration: 5 } },
      { state: 'done', output: { url: 'u' }, durationSeconds: 5 },
    ],
    [
      'xai',
      'j',
      { status: 'done', video: { url: 'u', duration: 0.5 } },
      { state: 'done', output: { url: 'u' }, durationSeconds: 0.5 },
    ],
    [
      'xai',
      'j',
      { status: 'done', video: { url: 'u', duration: 0 } },
      { state: 'done', output: { url: 'u' } },
    ],
    [
      'xai',
      'j',
      { status: 'done', video: { url: 'u', duration: '5' } },
      { state: 'done', output: { url: 'u' } },
    ],
    ['xai', 'j', { status: 'done' }, { state: 'failed', message: 'the job is done, but has no video' }],
    [
      'xai',
      'j',
      { status: 'failed', error: { code: 'oh', message: 'No' } },
      { state: 'failed', message: 'oh: No' },
    ],
    ['xai', 'j', { status: 'expired' }, { state: 'failed', message: 'expired' }],
    [
      'xai',
      'j',
      { status: 'done', video: { url: 'u', respect_moderation: false } },
      { state: 'blocked', message: 'respect_moderation: false' },
    ],
    ['gemini', 'j', { status: 'queued' }, { state: 'waiting' }],
    ['gemini', 'j', { status: 'in_progress' }, { state: 'running' }],
    ['gemini', 'j', {}, { state: 'running' }],
    [
      'gemini',
      'j',
      outputs({ type: 'text', text: 'a' }, { type: 'video', ...FILE }),
      { state: 'done', output: { file: 'abc-1' } },
    ],
    [
      'gemini',
      'j',
      outputs({ type: 'video', data: 'AAAA' }),
      { state: 'done', output: { interaction: 'j' } },
    ],
    [
      'gemini',
      'j',
      outputs({ type: 'text', text: 'I' }, { type: 'text' }, { type: 'text', text: 'cannot.' }),
      { state: 'failed', message: 'no video: I cannot.' },
    ],
    [
      'gemini',
      'j',
      {
        status: 'completed',
        steps: [{ type: 'thought', content: [{ type: 'video', ...FILE }] }, { type: 'model_output' }],
      },
      { state: 'failed', message: 'no video' },
    ],
    ['gemini', 'j', { status: 'completed', steps: 'none' }, { state: 'failed', message: 'no video' }],
    [
      'gemini',
      'j',
      { status: 'failed', error: { code: 'oh', message: 'No' } },
      { state: 'failed', message: 'oh: No' },
    ],
    ['gemini', 'j', { status: 'cancelled' }, { state: 'failed', message: 'cancelled' }],
    [
      'gemini',
      'j',
      { ...outputs({ type: 'text', text: 'It violates our policy.' }), status: 'failed' },
      { state: 'blocked', message: 'failed: It violates our policy.' },
    ],
    ['gemini', OPERATION, {}, { state: 'running' }],
    ['gemini', OPERATION, { done: 'true' }, { state: 'running' }],
    [
      'gemini',
      OPERATION,
      { done: true, error: { status: 'INTERNAL', message: 'No' } },
      { state: 'failed', message: 'INTERNAL: No' },
    ],
    ['gemini', OPERATION, { done: true, error: { code: 13 } }, { state: 'failed', message: '13' }],
    [
      'gemini',
      OPERATION,
      operation({ generatedSamples: [{ video: FILE }] }),
      { state: 'done', output: { file: 'abc-1' } },
    ],
    [
      'gemini',
      OPERATION,
      operation({ raiMediaFilteredReasons: ['a', 'b'] }),
      { state: 'blocked', message: 'a b' },
    ],
    ['gemini', OPERATION, operation({}), { state: 'failed', message: 'the job is done, but has no video' }],
    ['gemini', OPERATION, { done: true }, { state: 'failed', message: 'the job is done, but has no video' }],
  ])('of %s with the id %s that answers %j has its state', async (vendor, id, answer, status) => {
    const { jobs, calls } = connect(vendor, answer);
    expect(await jobs.poll(id, {})).toEqual(status);
    expect(calls).toMatchObject([{ method: 'GET', key: 'k', headers: ['x-key', 'k'] }]);
  });

  it.each([
    ['openai', 'a/b', '/videos/a%2Fb'],
    ['xai', 'a/b', '/videos/a%2Fb'],
    ['gemini', 'a/b', '/interactions/a%2Fb'],
    ['gemini', OPERATION, `/${OPERATION}`],
  ] as const)('of %s is asked for by its id %s', async (vendor, id, path) => {
    const { jobs, calls } = connect(vendor, {});
    const { signal } = new AbortController();
    await jobs.poll(id, { signal });
    expect(calls).toMatchObject([{ path, signal }]);
    expect(calls[0]?.signal).toBe(signal);
  });

  it.each(['x/operations/../y', '/operations/a', 'a/operations/b?c'])(
    'of Gemini is not asked for by a name that is no operation: %s',
    async (id) => {
      const { jobs, calls } = connect('gemini', {});
      await expect(jobs.poll(id, {})).rejects.toMatchObject({ kind: 'invalid_request' });
      expect(calls).toEqual([]);
      const ordered = connect('gemini', { name: id }).jobs.submit({ ...WISH, model: 'veo-3' }, {});
      await expect(ordered).rejects.toThrow('returned an invalid name');
    },
  );

  const WISH = {
    model: 'omni',
    prompt: 'A cat',
    durationSeconds: 4,
    aspectRatio: '16:9',
    resolution: '720p',
  };

  it.each([
    ['openai', 'j', [['DELETE', '/videos/j']]],
    ['gemini', 'j', [[undefined, '/interactions/j/cancel']]],
    ['gemini', OPERATION, []],
    ['xai', 'j', []],
  ] as const)('of %s with the id %s is cancelled where the API can', async (vendor, id, expected) => {
    const { jobs, calls } = connect(vendor);
    const { signal } = new AbortController();
    await jobs.cancel?.(id, { signal });
    expect(calls.map(({ method, path }) => [method, path])).toEqual(expected);
    for (const call of calls) expect(call).toMatchObject({ key: 'k', signal });
  });

  it.each<[keyof typeof VENDORS, Json, string]>([
    ['openai', { id: 'j' }, '/videos/j/content'],
    ['gemini', { file: 'abc' }, '/files/abc:download?alt=media'],
    ['xai', { url: 'https://host.example/a' }, 'https://host.example/a'],
  ])('of %s has its result at a place', async (vendor, output, place) => {
    const { jobs, calls } = connect(vendor);
    const { signal } = new AbortController();
    await jobs.fetch(output, { signal });
    expect(calls.map((call) => [String(call.path), call.key])).toEqual([[place, 'k']]);
    expect(calls[0]?.signal).toBe(signal);
  });

  it('has no result at a place that is no address', async () => {
    await expect(connect('xai').jobs.fetch({ url: 'a' }, {})).rejects.toThrow('without an address');
    await expect(connect('gemini').jobs.fetch(null, {})).rejects.toThrow('the result has no file');
  });

  it.each([
    ['image/webp', 'image.webp'],
    ['odd', 'image.png'],
  ])('of OpenAI begins with a picture of the type %s as a file', async (mediaType, name) => {
    const { jobs, calls } = connect('openai', { id: 'j' });
    const { signal } = new AbortController();
    const image = { mediaType, data: Buffer.from('a picture') };
    expect(await jobs.submit({ ...WISH, image }, { signal })).toBe('j');
    const [call] = calls;
    expect(call).toMatchObject({ path: '/videos', key: 'k', signal });
    expect(String(call?.body)).toContain(`name="input_reference"; filename="${name}"`);
  });

  it('of xAI is ordered with its picture in the request', async () => {
    const { jobs, calls } = connect('xai', { request_id: 'j' });
    const { signal } = new AbortController();
    const body = { model: 'omni', prompt: 'A cat', duration: 4, aspect_ratio: '16:9', resolution: '720p' };
    expect(await jobs.submit(WISH, { signal })).toBe('j');
    await jobs.submit({ ...WISH, image: { mediaType: 'image/png', data: Buffer.from('a') } }, { signal });
    expect(calls).toMatchObject(Array(2).fill({ path: '/videos/generations', key: 'k', signal }));
    expect(calls.map((call) => JSON.parse(String(call.body)))).toEqual([
      body,
      { ...body, image: { url: 'data:image/png;base64,YQ==' } },
    ]);
  });

  it('of OpenAI is ordered by a form', async () => {
    const { jobs, calls } = connect('openai', { id: 'j' });
    await jobs.submit(WISH, {});
    const [call] = calls;
    expect(call?.headers).toEqual(['x-key', 'k']);
    const form = String(call?.body);
    for (const [name, value] of Object.entries({
      model: 'omni',
      prompt: 'A cat',
      seconds: '4',
      size: '1280x720',
    })) {
      expect(form).toContain(`name="${name}"\r\n\r\n${value}\r\n`);
    }
    await expect(jobs.submit({ ...WISH, resolution: '8k' }, {})).rejects.toMatchObject({
      kind: 'invalid_request',
    });
    expect(calls).toHaveLength(1);
  });

  it('of Gemini may have its result in its answer', async () => {
    const fetchFrom = async (answer: object) =>
      connect('gemini', answer).jobs.fetch({ interaction: 'j' }, {});
    const data = Buffer.from('a video').toString('base64');
    const { mediaType, body } = await fetchFrom(outputs({ type: 'video', data, mime_type: 'video/webm' }));
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    expect([mediaType, Buffer.concat(pieces).toString()]).toEqual(['video/webm', 'a video']);
    expect((await fetchFrom(outputs({ type: 'video', data }))).mediaType).toBe('video/mp4');
    await expect(fetchFrom(outputs({ type: 'video' }))).rejects.toThrow('contains no video');
    await expect(fetchFrom({})).rejects.toThrow('contains no video');
  });
});

describe('file of Gemini', () => {
  it.each([
    ['https://host.example/v1beta/files/a_b-1', 'a_b-1'],
    ['files/a', 'a'],
    ['/files/a:download', 'a'],
    ['/files/a?key=b', 'a'],
  ])('has the name in %s', (uri, name) => {
    expect(makeFile(uri)).toBe(name);
  });

  it.each(['', 'https://host.example/a', '/files/a/b', '/files/a:other', 7])('has no name in %s', (uri) => {
    expect(() => makeFile(uri)).toThrow('names a result that is no file');
  });
});
