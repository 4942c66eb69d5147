import { type MediaJobs, ProviderError, type VideoRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createVideos as createGeminiVideos } from './gemini/videos.ts';
import type { Upstream, UpstreamCall } from './http/upstream.ts';
import { createVideos as createOpenAIVideos } from './openai/videos.ts';
import { createVideos as createXAIVideos } from './xai/videos.ts';

const VENDORS = { gemini: createGeminiVideos, openai: createOpenAIVideos, xai: createXAIVideos };
type Vendor = keyof typeof VENDORS;

function connect(vendor: Vendor, job: (call: UpstreamCall) => unknown): MediaJobs<VideoRequest> {
  const upstream = { job: async (call: UpstreamCall) => job(call) } as unknown as Upstream;
  return VENDORS[vendor](upstream, () => ({ key: 'k', headers: [] }));
}

describe('call about a video', () => {
  it.each<Vendor>(['gemini', 'openai'])(
    'of %s fails when the vendor refuses to cancel it',
    async (vendor) => {
      const jobs = connect(vendor, () => {
        throw new ProviderError('failed', 'too late');
      });
      await expect(jobs.cancel?.('j', {})).rejects.toThrow('too late');
    },
  );

  it('of Gemini has a body when it cancels', async () => {
    const bodies: unknown[] = [];
    await connect('gemini', ({ body }) => bodies.push(body)).cancel?.('j', {});
    expect(bodies).toEqual(['{}']);
  });

  it.each<[Vendor, unknown]>([
    ['gemini', null],
    ['openai', 'queued'],
    ['xai', []],
  ])('of %s fails when it is answered with %j', async (vendor, answer) => {
    await expect(connect(vendor, () => answer).poll('j', {})).rejects.toThrow('not an object');
  });
});
