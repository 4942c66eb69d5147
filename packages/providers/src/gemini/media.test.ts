import type { ImageRequest, VideoRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import type { Upstream, UpstreamCall } from '../http/upstream.ts';
import { embeddingBody, embeddingResult } from './embeddings.ts';
import { pictureBody, toImage } from './images.ts';
import { createVideos } from './videos.ts';

const BYTES = Buffer.from('a picture');
const base64 = BYTES.toString('base64');
const PICTURE = { mediaType: 'image/webp', data: BYTES };

describe('embeddings of Gemini', () => {
  const row = (...values: number[]) => ({ values });

  it('are requested one by one, with their dimensions if these are given', () => {
    const asked = (text: string) => ({ model: 'models/m', content: { parts: [{ text }] } });
    expect(embeddingBody({ model: 'm', inputs: ['a', 'b'] })).toEqual({ requests: [asked('a'), asked('b')] });
    expect(embeddingBody({ model: 'm', inputs: ['a'], dimensions: 3 })).toEqual({
      requests: [{ ...asked('a'), outputDimensionality: 3 }],
    });
  });

  it('have the tokens of the answer, or an estimate by characters', () => {
    const answer = { embeddings: [row(1), row(2)] };
    const embeddings = [[1], [2]];
    expect(embeddingResult({ ...answer, usageMetadata: { promptTokenCount: 9 } }, ['a', 'b'])).toEqual({
      embeddings,
      tokens: 9,
    });
    expect(embeddingResult(answer, ['👩👩👩', 'abc'])).toEqual({ embeddings, tokens: 3 });
    expect(embeddingResult(answer, ['ab', 'cde']).tokens).toBe(2);
  });

  it.each([
    undefined,
    {},
    { embeddings: [row(1)] },
    { embeddings: [row(1), row(2), row(3)] },
    { embeddings: [row(1), {}] },
  ])('are refused unless there is one for each input: %j', (answer) => {
    expect(() => embeddingResult(answer, ['a', 'b'])).toThrow('without a vector for each input');
  });
});

describe('image of Gemini', () => {
  const WISH: ImageRequest = { model: 'm', prompt: 'A cat', count: 1 };
  const image = (inlineData: object) => ({ inlineData });
  const answer = (parts: unknown, more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] });

  it('is requested with the pictures before the words', () => {
    const read = (fields: Partial<ImageRequest>) => JSON.parse(pictureBody({ ...WISH, ...fields }));
    const inline = { inlineData: { mimeType: 'image/webp', data: base64 } };
    expect(read({})).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
      generationConfig: { responseModalities: ['TEXT', 'IMAGE'] },
    });
    expect(read({ source: PICTURE, references: [PICTURE], aspectRatio: '1:1', seed: 0 })).toEqual({
      contents: [{ role: 'user', parts: [inline, inline, { text: 'A cat' }] }],
      generationConfig: {
        responseModalities: ['TEXT', 'IMAGE'],
        imageConfig: { aspectRatio: '1:1' },
        seed: 0,
      },
    });
  });

  it('is the first one with bytes', () => {
    const parts = [
      { text: 'Here' },
      image({ data: '' }),
      image({ mimeType: 'image/webp', data: base64 }),
      image({ data: 'AA' }),
    ];
    expect(toImage(answer(parts))).toEqual({ picture: PICTURE, usage: undefined });
    expect(toImage(answer([image({ data: base64 })])).picture.mediaType).toBe('image/png');
  });

  it.each([
    [
      { promptTokenCount: 1, candidatesTokenCount: 2 },
      { input: 1, output: 2 },
    ],
    [{ promptTokenCount: 1 }, undefined],
    [{ candidatesTokenCount: 2 }, undefined],
  ])('has the tokens of %j', (usageMetadata, usage) => {
    expect(toImage({ ...answer([image({ data: base64 })]), usageMetadata }).usage).toEqual(usage);
  });

  it.each<[unknown, string, string]>([
    [{ promptFeedback: { blockReason: 'SAFETY' } }, 'content_blocked', 'refused the prompt: SAFETY'],
    [answer('none', { finishReason: 'IMAGE_SAFETY' }), 'content_blocked', 'drew nothing: IMAGE_SAFETY'],
    [answer([], { finishReason: 'STOP' }), 'failed', 'drew nothing: STOP'],
    [{ candidates: 'none' }, 'failed', 'drew nothing: no reason'],
  ])('is refused for %j', (body, kind, message) => {
    expect(() => toImage(body)).toThrow(expect.objectContaining({ kind, message }));
  });
});

describe('video of Gemini', () => {
  async function order(request: Partial<VideoRequest>) {
    const calls: UpstreamCall[] = [];
    const upstream = {
      async job(call: UpstreamCall) {
        calls.push(call);
        return { id: 'i1', name: 'models/veo/operations/a' };
      },
    } as unknown as Upstream;
    const input = {
      model: 'omni',
      prompt: 'A cat',
      durationSeconds: 4,
      aspectRatio: '16:9',
      resolution: '720p',
    };
    const id = await createVideos(upstream, () => ({ key: 'k', headers: [] })).submit(
      { ...input, ...request },
      {},
    );
    return { id, path: calls[0]?.path, body: JSON.parse(String(calls[0]?.body)) };
  }

  it.each([
    [undefined, 'A cat', 'text_to_video'],
    [
      PICTURE,
      [
        { type: 'image', data: base64, mime_type: 'image/webp' },
        { type: 'text', text: 'A cat' },
      ],
      'image_to_video',
    ],
  ])('is an interaction in the background', async (image, input, task) => {
    expect(await order({ ...(image && { image }) })).toEqual({
      id: 'i1',
      path: '/interactions',
      body: {
        model: 'omni',
        input,
        background: true,
        store: true,
        response_format: {
          type: 'video',
          aspect_ratio: '16:9',
          resolution: '720p',
          duration: '4s',
          delivery: 'uri',
        },
        generation_config: { video_config: { task } },
      },
    });
  });

  it('of Veo is an operation', async () => {
    const parameters = { aspectRatio: '16:9', resolution: '720p', durationSeconds: 4 };
    expect(await order({ model: 'veo-3/x' })).toEqual({
      id: 'models/veo/operations/a',
      path: '/models/veo-3%2Fx:predictLongRunning',
      body: { instances: [{ prompt: 'A cat' }], parameters },
    });
    expect((await order({ model: 'veo-3', image: PICTURE })).body).toEqual({
      instances: [{ prompt: 'A cat', image: { bytesBase64Encoded: base64, mimeType: 'image/webp' } }],
      parameters,
    });
  });
});
