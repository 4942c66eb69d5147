import { describe, expect, it } from 'vitest';
import { IMAGE, MODEL, setUp, toId } from '../../../test/files-reader.ts';
import { WebToolError, type WebTools } from '../../ports/web.ts';
import { loadInputImages } from './generated-images.ts';
import type { ImageQuestRequest } from './request.ts';

const BYTES = Uint8Array.of(1, 2);
const MEDIA = { mediaType: 'image/png', data: Buffer.from(BYTES) };
const FETCHED = { mediaType: 'image/webp', data: Uint8Array.of(9) };

async function load(
  request: Partial<ImageQuestRequest>,
  fetchFile?: WebTools['fetchFile'],
  { signal } = new AbortController(),
) {
  const { reader } = await setUp(undefined, BYTES);
  const web = { ...(fetchFile !== undefined && { fetchFile }) } as WebTools;
  const asked = { referenceFileIds: [], ...request } as Partial<ImageQuestRequest> as ImageQuestRequest;
  return loadInputImages({ files: reader, web }, 'ada', asked, MODEL, signal);
}

describe('input images of a request', () => {
  it('are its source, mask and references; absent ones are left out', async () => {
    expect(await load({ source: IMAGE, maskFileId: IMAGE, referenceFileIds: [IMAGE] })).toEqual({
      ...{ source: MEDIA, mask: MEDIA, references: [MEDIA] },
    });
    expect(await load({})).toEqual({});
    expect(Object.keys(await load({ referenceFileIds: [IMAGE] }))).toEqual(['references']);
    expect(Object.keys(await load({ maskFileId: IMAGE }))).toEqual(['mask']);
  });

  it('are refused with 422 when one is unknown', async () => {
    await expect(load({ source: toId(9) })).rejects.toMatchObject({
      ...{ status: 422, code: 'input_image_not_found' },
    });
  });

  it('are fetched from an https address, as images of at most 30 MiB', async () => {
    const calls: unknown[] = [];
    const fetchFile: WebTools['fetchFile'] = async (address, options, { signal } = {}) => {
      calls.push([address, options, signal instanceof AbortSignal]);
      return FETCHED;
    };
    const address = 'HTTPS://example.com/a.webp';
    expect(await load({ source: address }, fetchFile)).toEqual({ source: FETCHED });
    expect(calls).toEqual([[address, { accept: ['image/'], maxBytes: 30 * 2 ** 20 }, true]]);
  });

  it.each([
    ['http://example.com/a.png', 'image: expected a file id or an https URL.'],
    ['data:image/png;base64,AA', 'image: expected a file id or an https URL.'],
  ])('are not fetched from %s', async (source, message) => {
    const fetchFile = async () => FETCHED;
    await expect(load({ source }, fetchFile)).rejects.toMatchObject({ status: 422, message });
  });

  it('are refused where the server cannot fetch', async () => {
    await expect(load({ source: 'https://example.com/a.png' })).rejects.toMatchObject({
      ...{ status: 422, message: 'image: this server cannot fetch URLs.' },
    });
  });

  it('say why an address was refused, and hide no other failure', async () => {
    const source = 'https://example.com/a.png';
    const refuse = async (): Promise<never> => {
      throw new WebToolError('INVALID_INPUT', 'url: not a public address');
    };
    await expect(load({ source }, refuse)).rejects.toMatchObject({
      ...{ status: 422, message: 'image: not a public address' },
    });
    const fail = async (): Promise<never> => {
      throw new Error('out of memory');
    };
    await expect(load({ source }, fail)).rejects.toThrow('out of memory');
  });

  it('stop with the reason of the work that ends', async () => {
    const stop = new AbortController();
    const leave = async (): Promise<never> => {
      stop.abort(new Error('stopped'));
      throw new WebToolError('NETWORK_ERROR', 'url: no answer');
    };
    const source = 'https://example.com/a.png';
    await expect(load({ source }, leave, stop)).rejects.toThrow('stopped');
  });
});
