import { createGeminiProvider } from '@questline/providers/gemini';
import { createGeminiUpstream, type ScriptSource } from '@questline/testing/upstreams';
import { describe, expect, test } from 'vitest';
import { connect, never } from './set-up.ts';

const PICTURE = { mediaType: 'image/png', data: Buffer.from('a picture') };

const drawn = {
  candidates: [
    {
      content: {
        parts: [
          { text: 'Here it is.' },
          { inlineData: { mimeType: 'image/png', data: PICTURE.data.toString('base64') } },
        ],
      },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1290 },
};

const gemini = (script: ScriptSource) => connect(createGeminiUpstream, createGeminiProvider, script, {});
const answering = (body: unknown) => gemini({ refusal: { status: 200, body } });
const WISH = { model: 'gemini-2.5-flash-image', prompt: 'A cat', count: 1 };

describe('images of Gemini', () => {
  test('are requested one by one until the count is reached, with all their tokens', async () => {
    const { provider, upstream } = await answering(drawn);
    const result = await provider.image?.(
      { ...WISH, count: 3, aspectRatio: '16:9', references: [PICTURE] },
      {},
    );
    expect(result).toEqual({ images: [PICTURE, PICTURE, PICTURE], usage: { input: 30, output: 3870 } });
    expect(upstream.requests).toHaveLength(3);
    expect(upstream.requests[0]).toMatchObject({
      path: '/v1beta/models/gemini-2.5-flash-image:generateContent',
      body: {
        contents: [
          {
            role: 'user',
            parts: [
              { inlineData: { mimeType: 'image/png', data: PICTURE.data.toString('base64') } },
              { text: 'A cat' },
            ],
          },
        ],
        generationConfig: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '16:9' } },
      },
    });
  });

  test.each([
    [{ promptFeedback: { blockReason: 'SAFETY' } }, 'content_blocked'],
    [{ candidates: [{ finishReason: 'IMAGE_SAFETY' }] }, 'content_blocked'],
    [{ candidates: [{ content: { parts: [{ text: 'no' }] }, finishReason: 'STOP' }] }, 'failed'],
    [{}, 'failed'],
  ])('fail without an image: %j', async (body, kind) => {
    const { provider } = await answering(body);
    await expect(provider.image?.(WISH, {})).rejects.toMatchObject({ kind });
  });

  test('keep the images that arrived when others failed', async () => {
    let count = 0;
    const { provider } = await gemini(() => {
      count += 1;
      return count === 1
        ? { refusal: { status: 200, body: drawn } }
        : { refusal: { status: 500, body: { error: { message: 'no' } } } };
    });
    const result = await provider.image?.({ ...WISH, count: 2 }, {});
    expect(result?.images).toHaveLength(1);
  });

  test('have the tokens of those that report some', async () => {
    const { usageMetadata: _, ...silent } = drawn;
    let count = 0;
    const { provider, upstream } = await gemini(() => {
      count += 1;
      return { refusal: { status: 200, body: count === 1 ? drawn : silent } };
    });
    const draw = () => provider.image?.({ ...WISH, count: 2 }, {});
    expect(await draw()).toEqual({ images: [PICTURE, PICTURE], usage: { input: 10, output: 1290 } });
    upstream.use({ refusal: { status: 200, body: silent } });
    expect(await draw()).toEqual({ images: [PICTURE, PICTURE] });
  });

  test('are left with the reason of the caller, also when some have arrived', async () => {
    let count = 0;
    const script: ScriptSource = () => {
      count += 1;
      return count === 1 ? { refusal: { status: 200, body: drawn } } : { wait: never };
    };
    const { provider, upstream } = await connect(createGeminiUpstream, createGeminiProvider, script, {
      connections: 1,
    });
    const leaving = new AbortController();
    const call = provider.image?.({ ...WISH, count: 2 }, { signal: leaving.signal });
    const second = await upstream.request(1);
    leaving.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
    await second.disconnected;
  });
});
