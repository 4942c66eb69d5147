import { type Progress, progress } from '@questline/client';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
});

const LINK = 'http://bucket.test/object';

/** The XMLHttpRequest of a page. The test ends the request. */
class Page {
  readonly calls: unknown[][] = [];
  readonly upload: { onprogress?: (event: object) => void } = {};
  responseType = '';
  withCredentials: boolean | undefined;
  status = 0;
  response: ArrayBuffer | null = null;
  allHeaders = '';
  onload = (): void => undefined;
  onerror = (): void => undefined;
  constructor(pages: Page[]) {
    pages.push(this);
  }
  open(...args: unknown[]): void {
    this.calls.push(['open', ...args]);
  }
  setRequestHeader(...args: unknown[]): void {
    this.calls.push(['header', ...args]);
  }
  send(...args: unknown[]): void {
    this.calls.push(['send', ...args]);
  }
  abort(): void {
    this.calls.push(['abort']);
  }
  getAllResponseHeaders(): string {
    return this.allHeaders;
  }
  /** Ends the request with an answer. */
  answer(status: number, text: string, headers = ''): void {
    this.status = status;
    this.response = new TextEncoder().encode(text).buffer;
    this.allHeaders = headers;
    this.onload();
  }
}

/** Sends a request in a page. */
function send(init: RequestInit) {
  const pages: Page[] = [];
  vi.stubGlobal(
    'XMLHttpRequest',
    class extends Page {
      constructor() {
        super(pages);
      }
    },
  );
  const steps: Progress[] = [];
  const answer = progress((step) => steps.push(step))(undefined)(LINK, init);
  // Looked at by the test.
  answer.catch(() => undefined);
  const [page = expect.fail()] = pages;
  return { answer, page, steps };
}

describe('an upload in a page', () => {
  it('sends what the call says', async () => {
    const { answer, page } = send({
      method: 'PUT',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
      credentials: 'include',
    });
    expect(page.calls).toEqual([
      ['open', 'PUT', LINK],
      ['header', 'content-type', 'text/plain'],
      ['send', 'x'],
    ]);
    expect([page.responseType, page.withCredentials]).toEqual(['arraybuffer', true]);
    page.answer(201, 'done');
    expect((await answer).status).toBe(201);
  });

  it('is a GET without a method, and sends no cookies to other origins by itself', () => {
    const { page } = send({ credentials: 'same-origin' });
    expect(page.calls).toEqual([
      ['open', 'GET', LINK],
      ['send', undefined],
    ]);
    expect(page.withCredentials).toBe(false);
  });

  it('reports its progress', () => {
    const { page, steps } = send({ body: 'x' });
    page.upload.onprogress?.({ loaded: 1, total: 3, lengthComputable: true });
    page.upload.onprogress?.({ loaded: 2, total: 0, lengthComputable: false });
    expect(steps).toEqual([
      { loaded: 1, total: 3 },
      { loaded: 2, total: undefined },
    ]);
  });

  it('resolves with the answer', async () => {
    const { answer, page } = send({ body: 'x' });
    page.answer(200, 'done', 'content-type: text/plain\r\nx-time:  10:30:00 \r\nx-empty:\r\nx-tight:1\r\n');
    const { headers, status } = await answer;
    expect(status).toBe(200);
    expect([...headers]).toEqual([
      ['content-type', 'text/plain'],
      ['x-empty', ''],
      ['x-tight', '1'],
      ['x-time', '10:30:00'],
    ]);
    expect(await (await answer).text()).toBe('done');
  });

  it('resolves with an answer that has no header', async () => {
    const { answer, page } = send({ body: 'x' });
    page.answer(500, 'failed');
    expect([...(await answer).headers]).toEqual([]);
  });

  it.each([204, 205, 304])('resolves with %i, which has no body', async (status) => {
    const { answer, page } = send({ body: 'x' });
    page.answer(status, '');
    expect((await answer).status).toBe(status);
    expect((await answer).body).toBeNull();
  });

  it('rejects if the connection fails', async () => {
    const { answer, page } = send({ body: 'x' });
    page.onerror();
    await expect(answer).rejects.toThrow(new TypeError('the upload failed'));
  });

  it('stops with the reason of its signal', async () => {
    const controller = new AbortController();
    const { answer, page } = send({ body: 'x', signal: controller.signal });
    expect(page.calls.at(-1)).toEqual(['send', 'x']);
    const reason = new Error('left');
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    expect(page.calls.at(-1)).toEqual(['abort']);
  });

  it('sends nothing if it is stopped before', async () => {
    const reason = new Error('left');
    const { answer, page } = send({ body: 'x', signal: AbortSignal.abort(reason) });
    await expect(answer).rejects.toBe(reason);
    expect(page.calls).toEqual([['open', 'GET', LINK], ['abort']]);
  });

  it.each(['answer', 'failure'])('is not stopped after its %s', (end) => {
    const controller = new AbortController();
    const { page } = send({ body: 'x', signal: controller.signal });
    if (end === 'answer') page.answer(200, '');
    else page.onerror();
    controller.abort();
    expect(page.calls.at(-1)).toEqual(['send', 'x']);
  });

  it('leaves the request to the fetch of the client, if that has one', async () => {
    vi.stubGlobal('XMLHttpRequest', Page);
    const fetch = async (): Promise<Response> => new Response('own');
    const answer = await progress(() => undefined)(fetch)(LINK, { body: 'x' });
    expect(await answer.text()).toBe('own');
  });
});
