import { describe, expect, it } from 'vitest';
import { EXECUTIONS } from '../src/tools/ask-agent.ts';
import { IMAGES } from '../src/tools/images.ts';
import { VIDEOS } from '../src/tools/videos.ts';
import { waitForGeneration, waitForQuest } from '../src/tools/wait.ts';
import { createCall, createWaits } from './tool-calls.ts';

const URL = 'https://example.com/file';

describe('status of work', () => {
  it.each([
    [EXECUTIONS, { status: 'pending' }, 'working'],
    [EXECUTIONS, { status: 'running' }, 'working'],
    [EXECUTIONS, { status: 'aborted' }, 'cancelled'],
    [EXECUTIONS, { status: 'completed' }, 'completed'],
    [EXECUTIONS, { status: 'failed' }, 'completed'],
    [IMAGES, { status: 'queued' }, 'working'],
    [IMAGES, { status: 'running' }, 'working'],
    [IMAGES, { status: 'stopped' }, 'cancelled'],
    [IMAGES, { status: 'done' }, 'completed'],
    [VIDEOS, { state: 'queued' }, 'working'],
    [VIDEOS, { state: 'running' }, 'working'],
    [VIDEOS, { state: 'cancelled' }, 'cancelled'],
    [VIDEOS, { state: 'succeeded' }, 'completed'],
    [VIDEOS, { state: 'failed' }, 'completed'],
    [VIDEOS, { state: 'blocked' }, 'completed'],
  ])('%o in %j is %s', (work, state, status) => {
    expect(work.getStatus(state)).toBe(status);
  });
});

describe('result of a run', () => {
  it.each([
    [{ status: 'completed', answer: 'Rain.' }, undefined],
    [{ status: 'running', answer: null }, undefined],
    [{ status: 'failed', error: 'no credits', answer: null }, 'no credits'],
    [{ status: 'failed', answer: null }, 'The run is failed.'],
    [{ status: 'aborted', error: 7, answer: null }, 'The run is aborted.'],
  ])('%j has the error %j', async (state, message) => {
    const { status, answer } = state;
    const shown = { execution_id: 'e', session_id: 's', status, answer };
    expect(await EXECUTIONS.toResult({ id: 'e', session_id: 's', ...state }, createCall())).toEqual({
      content: [{ type: 'text', text: message ?? JSON.stringify(shown) }],
      structuredContent: shown,
      ...(message !== undefined && { isError: true }),
    });
  });
});

describe('result of a video', () => {
  it.each([
    [{ state: 'running', progress: 0.5 }, undefined],
    [{ state: 'succeeded', output: { url: '/relative' } }, undefined],
    [{ state: 'failed', error: { message: 'too dark' } }, 'too dark'],
    [{ state: 'blocked', error: null }, 'The generation is blocked.'],
    [{ state: 'cancelled' }, 'The generation is cancelled.'],
  ])('%j has the error %j', async (state, message) => {
    const { isError, content, structuredContent } = await VIDEOS.toResult(
      { id: 'g', ...state },
      createCall(),
    );
    expect([isError, structuredContent]).toEqual([message && true, { generation_id: 'g', ...state }]);
    expect(content).toEqual([
      { type: 'text', text: message ?? JSON.stringify({ generation_id: 'g', ...state }) },
    ]);
  });

  it('links the video where it has an address', async () => {
    const { content } = await VIDEOS.toResult(
      { id: 'g', state: 'succeeded', output: { url: URL } },
      createCall(),
    );
    expect(content.slice(1)).toEqual([{ type: 'resource_link', uri: URL, name: 'video' }]);
  });
});

describe('result of images', () => {
  const MAX = 4 * 2 ** 20;
  const sizes: Readonly<Record<string, number>> = { a: 3, b: MAX - 3, c: 1, text: 1 };

  /** A library with files of these sizes, which reads none above the limit that it is given. */
  const create = (quest: object | undefined) => {
    const read: unknown[] = [];
    const services = {
      store: { collection: () => ({ get: async (id: string) => (id === 'q' ? quest : undefined) }) },
      library: {
        get: async (ownerId: string, fileId: string) =>
          fileId in sizes ? { ownerId, fileId, mimeType: 'image/png' } : undefined,
        async readFound({ ownerId, fileId }: { ownerId: string; fileId: string }, limit: number) {
          read.push([ownerId, fileId, limit]);
          const size = sizes[fileId] ?? 0;
          return size > limit ? undefined : Buffer.alloc(size, 'x');
        },
      },
    };
    return { read, call: createCall({}, { services }) };
  };
  const file = (fileId: string, isImage = true) => ({ fileId, isImage });

  it('has the images up to 4 MiB together, and links to those with an address', async () => {
    const files = [file('a'), file('none'), file('text', false), file('c'), file('b'), file('c')];
    const { call, read } = create({ ownerId: 'u', files });
    const links = [
      { name: 'a.png', url: URL },
      { name: 'b.png', url: '/b.png' },
    ];
    const { content, isError, structuredContent } = await IMAGES.toResult(
      { id: 'q', status: 'done', type: 'message', files: links },
      call,
    );
    expect([isError, structuredContent]).toEqual([
      undefined,
      { quest_id: 'q', status: 'done', files: links },
    ]);
    expect(content.slice(1)).toEqual([
      { type: 'resource_link', uri: URL, name: 'a.png' },
      { type: 'image', data: Buffer.from('xxx').toString('base64'), mimeType: 'image/png' },
      { type: 'image', data: Buffer.from('x').toString('base64'), mimeType: 'image/png' },
      { type: 'image', data: Buffer.from('x').toString('base64'), mimeType: 'image/png' },
    ]);
    expect(read).toEqual([
      ['u', 'a', MAX],
      ['u', 'c', MAX - 3],
      ['u', 'b', MAX - 4],
      ['u', 'c', MAX - 4],
    ]);
  });

  it.each([
    [{ status: 'done', type: 'error', reply: 'It was blocked.' }, 'It was blocked.'],
    [{ status: 'stopped', type: 'message', reply: null }, 'No image was made.'],
  ])('%j is an error', async (state, message) => {
    const { call, read } = create({ ownerId: 'u', files: [file('a')] });
    expect(await IMAGES.toResult({ id: 'q', ...state }, call)).toEqual({
      content: [{ type: 'text', text: message }],
      structuredContent: { quest_id: 'q', status: state.status, files: [] },
      isError: true,
    });
    expect(read).toEqual([]);
  });

  it('has no images where the quest or its files are gone', async () => {
    for (const quest of [undefined, { ownerId: 'u' }]) {
      const { call } = create(quest);
      expect(
        (await IMAGES.toResult({ id: 'q', status: 'done', type: 'message' }, call)).content,
      ).toHaveLength(1);
    }
  });
});

describe('wait for work', () => {
  it('looks at the stored state, and not at all without time', async () => {
    const { services, waits } = createWaits();
    const call = createCall({}, { services });
    await waitForQuest('q', 0, call);
    await waitForGeneration('g', 0, call);
    await waitForQuest('q', 7, call);
    await waitForGeneration('g', 8, call);
    await waitForGeneration('ended', 9, call);
    expect(waits).toEqual([
      { id: 'q', timeoutMs: 7, status: 'stored' },
      { id: 'g', timeoutMs: 8, status: 'running' },
      { id: 'ended', timeoutMs: 9, status: 'done' },
    ]);
  });
});
