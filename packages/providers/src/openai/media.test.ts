import type { AudioFormat, ImageRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import type { Upstream, UpstreamCall } from '../http/upstream.ts';
import { speechBody, speechResult, transcriptionForm, transcriptionResult } from './audio.ts';
import { embeddingBody, embeddingResult } from './embeddings.ts';
import { drawImages } from './images.ts';

describe('embeddings of OpenAI', () => {
  const row = (embedding: unknown, index?: unknown) => ({ embedding, ...(index !== undefined && { index }) });

  it('are requested with their dimensions if these are given', () => {
    const plain = { model: 'm', input: ['a'], encoding_format: 'float' };
    expect(embeddingBody({ model: 'm', inputs: ['a'] })).toEqual(plain);
    expect(embeddingBody({ model: 'm', inputs: ['a'], dimensions: 3 })).toEqual({ ...plain, dimensions: 3 });
  });

  it.each([
    ['indexes', [row([2], 1), row([1], 0)]],
    ['order', [row([1]), row([2], 'one')]],
    ['indexes, without what has none', [row([1], 0), row([2], 1), row([3], 2), row([4], -1), row('x', 0)]],
  ])('are those of the inputs by their %s', (_title, data) => {
    expect(embeddingResult({ data, model: 'e' }, 2)).toEqual({
      embeddings: [[1], [2]],
      tokens: 0,
      model: 'e',
    });
  });

  it.each([
    undefined,
    {},
    { data: 'x' },
    { data: [row([1])] },
    { data: [row([1], 0), row([2], 0)] },
    { data: [row([1]), row('x')] },
  ])('are refused unless there is one for each input: %j', (answer) => {
    expect(() => embeddingResult(answer, 2)).toThrow('answered without a vector for each input');
  });

  it.each([
    [{ prompt_tokens: 3, total_tokens: 4 }, 3],
    [{ total_tokens: 4 }, 4],
    [undefined, 0],
  ])('count their tokens: %j', (usage, tokens) => {
    expect(embeddingResult({ data: [], usage }, 0)).toEqual({ embeddings: [], tokens });
  });
});

describe('audio of OpenAI', () => {
  it('is requested in a voice and a format', () => {
    const asked = { model: 'm', text: 'Hi', format: 'wav' } as const;
    expect(JSON.parse(speechBody(asked))).toEqual({
      model: 'm',
      input: 'Hi',
      voice: 'alloy',
      response_format: 'wav',
    });
    expect(JSON.parse(speechBody({ ...asked, voice: 'nova' }))).toMatchObject({ voice: 'nova' });
  });

  it.each<[AudioFormat, string]>([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['opus', 'audio/ogg'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['pcm', 'audio/pcm'],
  ])('has the type of its format %s, and bytes', (format, mediaType) => {
    expect(speechResult(format, Buffer.from('a'))).toEqual({ mediaType, data: Buffer.from('a') });
    expect(() => speechResult(format, Buffer.alloc(0))).toThrow('the response contains no audio');
  });

  it.each([
    ['audio/mpeg', 'mp3'],
    ['audio/mp4', 'mp4'],
    ['audio/wav', 'wav'],
    ['audio/webm', 'webm'],
    ['audio/ogg', 'ogg'],
    ['audio/flac', 'flac'],
    ['audio/new', 'mp3'],
  ])('of type %s is sent as a file that ends with %s', async (mediaType, ending) => {
    const { contentType, body } = transcriptionForm({
      model: 'm',
      audio: { mediaType, data: Buffer.from('a\r\nb') },
    });
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': contentType },
    }).formData();
    const { file, ...fields } = Object.fromEntries(form) as { file: File };
    expect(fields).toEqual({ model: 'm', response_format: 'json' });
    expect([file.name, file.type, await file.text()]).toEqual([`audio.${ending}`, mediaType, 'a\r\nb']);
  });

  it.each<[unknown, object | undefined]>([
    [undefined, undefined],
    [{ type: 'duration', seconds: 3 }, { seconds: 3 }],
    [{ type: 'duration', seconds: '3' }, undefined],
    [{ type: 'other', seconds: 3, input_tokens: 1, output_tokens: 2 }, undefined],
    [
      { type: 'tokens', input_tokens: 1, output_tokens: 2 },
      { input: 1, output: 2 },
    ],
    [{ type: 'tokens', input_tokens: 1 }, undefined],
    [{ type: 'tokens', output_tokens: 2 }, undefined],
  ])('has the usage of its transcription: %j', (usage, expected) => {
    expect(transcriptionResult({ text: '', usage })).toEqual({
      text: '',
      ...(expected && { usage: expected }),
    });
  });

  it('is refused without a text', () => {
    for (const answer of [undefined, {}, { text: 7 }]) {
      expect(() => transcriptionResult(answer)).toThrow('answered without a text');
    }
  });
});

describe('images of OpenAI', () => {
  const BYTES = Buffer.from('a picture');
  const PICTURE = { b64_json: BYTES.toString('base64') };

  async function draw(fields: Partial<ImageRequest>, answer: unknown = { data: [PICTURE] }) {
    let sent: UpstreamCall | undefined;
    const upstream = {
      async json(call: UpstreamCall) {
        sent = call;
        return answer;
      },
    } as Upstream;
    const request = { model: 'gpt-image-1', prompt: 'A cat', count: 1, ...fields };
    const call = {
      headers: (type: string) => ['content-type', type],
      key: 'k',
      signal: new AbortController().signal,
    };
    const result = await drawImages(upstream, request, call);
    expect(sent).toMatchObject({ key: 'k', signal: call.signal });
    return { result, path: sent?.path, type: sent?.headers[1] ?? '', body: sent?.body ?? '' };
  }

  it.each<[string, Partial<ImageRequest>, object]>([
    ['nothing more', {}, {}],
    ['quality standard', { quality: 'standard' }, { quality: 'medium' }],
    ['quality hd', { quality: 'hd' }, { quality: 'high' }],
    ['quality xhigh', { quality: 'xhigh' }, { quality: 'high' }],
    ['quality max', { quality: 'max' }, { quality: 'high' }],
    ['quality low', { quality: 'low' }, { quality: 'low' }],
    ['no style', { style: 'vivid' }, {}],
    [
      'background and format',
      { background: 'opaque', outputFormat: 'jpeg' },
      { background: 'opaque', output_format: 'jpeg' },
    ],
    [
      'an older model',
      { model: 'dall-e-2', quality: 'standard', style: 'vivid', background: 'opaque', outputFormat: 'jpeg' },
      { model: 'dall-e-2', quality: 'standard', style: 'vivid', response_format: 'b64_json' },
    ],
  ])('are requested as JSON: %s', async (_title, fields, expected) => {
    const { path, type, body } = await draw(fields);
    expect([path, type]).toEqual(['/images/generations', 'application/json']);
    expect(JSON.parse(String(body))).toEqual({ model: 'gpt-image-1', prompt: 'A cat', n: 1, ...expected });
  });

  it.each<[Partial<ImageRequest>, string[]]>([
    [{ source: { mediaType: 'image/png', data: BYTES } }, ['image image-0.png image/png']],
    [{ references: [{ mediaType: 'image/webp', data: BYTES }] }, ['image image-0.webp image/webp']],
    [
      {
        source: { mediaType: 'image/png', data: BYTES },
        references: [{ mediaType: 'image/jpeg', data: BYTES }],
        mask: { mediaType: 'image/png', data: BYTES },
      },
      ['image[] image-0.png image/png', 'image[] image-1.jpeg image/jpeg', 'mask mask.png image/png'],
    ],
  ])('are edited by a form', async (fields, files) => {
    const { path, type, body } = await draw({ ...fields, count: 2, size: { width: 8, height: 4 } });
    expect(path).toBe('/images/edits');
    const form = await new Response(new Uint8Array(Buffer.from(body)), {
      headers: { 'content-type': type },
    }).formData();
    expect([...form].filter(([, value]) => typeof value === 'string')).toEqual([
      ['model', 'gpt-image-1'],
      ['prompt', 'A cat'],
      ['n', '2'],
      ['size', '8x4'],
    ]);
    const sent = [...form].flatMap(([name, value]) =>
      typeof value === 'string' ? [] : [`${name} ${value.name} ${value.type}`],
    );
    expect(sent).toEqual(files);
  });

  it('are edited by older models in the fields that these take', async () => {
    const { type, body } = await draw({ model: 'dall-e-2', source: { mediaType: 'odd', data: BYTES } });
    const sent = new Response(new Uint8Array(Buffer.from(body)), { headers: { 'content-type': type } });
    const { image, ...fields } = Object.fromEntries(await sent.formData()) as { image: File };
    expect(fields).toEqual({ model: 'dall-e-2', prompt: 'A cat', n: '1', response_format: 'b64_json' });
    expect(image.name).toBe('image-0.png');
  });

  it('have their bytes, their type, the prompt that was drawn and the tokens', async () => {
    const answer = {
      data: [{ ...PICTURE, revised_prompt: 'A black cat' }, {}, PICTURE],
      output_format: 'webp',
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const image = (mediaType: string) => ({ mediaType, data: BYTES });
    expect((await draw({}, answer)).result).toEqual({
      images: [image('image/webp'), image('image/webp')],
      revisedPrompt: 'A black cat',
      usage: { input: 1, output: 2 },
    });
    expect((await draw({ outputFormat: 'jpeg' })).result).toEqual({ images: [image('image/jpeg')] });
    const half = { data: [PICTURE], usage: { input_tokens: 1 } };
    expect((await draw({}, half)).result).toEqual({ images: [image('image/png')] });
    const otherHalf = { data: [PICTURE], usage: { output_tokens: 1 } };
    expect((await draw({}, otherHalf)).result).toEqual({ images: [image('image/png')] });
  });

  it.each([undefined, {}, { data: 'x' }, { data: [{ url: 'https://a.example' }] }])(
    'are refused without bytes: %j',
    async (answer) => {
      await expect(draw({}, answer ?? null)).rejects.toThrow('the response contains no image');
    },
  );
});
