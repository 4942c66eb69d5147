import type { Media, WebTools } from '@questline/core/ports';
import { WebToolError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatApp, createChatApp } from '../support/chat.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import {
  checkChunks,
  fetchFrom,
  openPage,
  readChunks,
  type Sdk,
  VERSIONS,
  whileWorking,
} from '../support/use-chat.ts';

/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const IMAGE = {
  type: 'file',
  mediaType: 'image/png',
  filename: 'dot.png',
  url: `data:image/png;base64,${PIXEL}`,
};
const NOTE = {
  type: 'file',
  mediaType: 'text/plain',
  filename: 'note.txt',
  url: `data:text/plain;base64,${Buffer.from('The Nile is long.').toString('base64')}`,
};

type Options = Parameters<typeof createChatApp>[0];

function createSeeingApp(options: Options = {}): Promise<ChatApp> {
  const model = createScriptedProvider(
    (call) => {
      call.say(...answerParts('Seen.'));
      call.end();
    },
    [{ ...SCRIPTED_MODEL, supportsVision: true }],
  );
  return createChatApp({ ...options, model });
}

const withParts = (...parts: object[]) => ({ id: 'c', messages: [{ id: 'u1', role: 'user', parts }] });

async function post(app: ChatApp, body: object) {
  const response = await fetchFrom(app)('/api/chat', { method: 'POST', body: JSON.stringify(body) });
  if (response.status === 200) return { status: 200, chunks: await readChunks(app, response), error: '' };
  return { status: response.status, chunks: [], error: ((await response.json()) as { error: string }).error };
}

const countFiles = async (app: ChatApp): Promise<number> => {
  const { key } = await app.issue({ scopes: ['files:read'] });
  return (await app.json('GET', '/api/v1/files', { credential: key })).body.data.length;
};

const lastContent = (app: ChatApp) => app.calls.at(-1)?.request.messages.at(-1)?.content;

describe.each(VERSIONS)('files in version %s of the AI SDK', (_version, sdk: Sdk) => {
  it('reach the model, are stored once, and come back with the stored messages', async () => {
    const app = await createSeeingApp();
    const { status, chunks } = await post(app, withParts(IMAGE, NOTE, { type: 'text', text: 'See' }));
    expect(status).toBe(200);
    await checkChunks(sdk, chunks);
    expect(lastContent(app)).toMatchObject([
      { type: 'image', mediaType: 'image/png', data: PIXEL },
      { type: 'document', name: 'note.txt' },
      { type: 'text', text: 'See' },
    ]);
    const { body } = await app.json('GET', '/api/chat/c/messages');
    const messages = await sdk.validateUIMessages({ messages: body.data });
    expect(messages[0]?.parts).toMatchObject([
      { type: 'file', mediaType: 'image/png', filename: 'dot.png', url: expect.any(String) },
      { type: 'file', mediaType: 'text/plain', filename: 'note.txt' },
      { type: 'text', text: 'See' },
    ]);
    expect(await countFiles(app)).toBe(2);

    const page = openPage(sdk, app, { id: 'c', messages });
    await whileWorking(app, page.regenerate());
    expect(page.error).toBeUndefined();
    expect(lastContent(app)?.map(({ type }) => type)).toEqual(['image', 'document', 'text']);
    // An edit keeps a file by its id: the URL of the page has no effect.
    const kept = { ...messages[0]?.parts[0], url: 'https://elsewhere.example/forged.png' };
    const again = withParts(kept, NOTE, { type: 'text', text: 'Look' });
    expect((await post(app, { ...again, messageId: 'u1' })).status).toBe(200);
    expect(lastContent(app)).toMatchObject([
      { type: 'image', data: PIXEL },
      { type: 'document' },
      { text: 'Look' },
    ]);
    expect(await countFiles(app)).toBe(2);
    expect(app.incidents).toEqual([]);
  });
});

describe('files in messages', () => {
  it('may be all of a message, and larger than the bodies of other requests', async () => {
    const app = await createSeeingApp();
    const text = Buffer.from('Nile. '.repeat(400_000)).toString('base64');
    const large = { ...NOTE, url: `data:text/plain;base64,${text}` };
    expect((await post(app, withParts(large))).status).toBe(200);
    expect(lastContent(app)?.map(({ type }) => type)).toEqual(['document']);
    const { status, body } = await app.json('POST', '/api/chat', { body: { message: 'x'.repeat(2 ** 20) } });
    expect([status, body.maxSize]).toEqual([413, 2 ** 20]);
  });

  it('are fetched from https URLs, with the guard of the web tools', async () => {
    const fetched: string[] = [];
    const web: WebTools = {
      async fetchFile(url): Promise<Media> {
        fetched.push(url);
        if (url.includes('private')) throw new WebToolError('INVALID_INPUT', 'url: is not public');
        return { mediaType: 'image/png', data: Buffer.from(PIXEL, 'base64') };
      },
    };
    const app = await createSeeingApp({ web });
    expect((await post(app, withParts({ ...IMAGE, url: 'https://pictures.example/dot.png' }))).status).toBe(
      200,
    );
    expect(lastContent(app)).toMatchObject([{ type: 'image', data: PIXEL }]);
    const refused = await post(
      app,
      withParts({ type: 'text', text: 'x' }, { ...IMAGE, url: 'https://private.example' }),
    );
    expect([refused.status, refused.error]).toEqual([422, 'messages.0.parts.1.url: is not public']);
    expect(fetched).toHaveLength(2);
  });

  it('are moderated before the turn', async () => {
    let isAway = false;
    const app = await createSeeingApp({
      moderator: {
        async check({ read, size }) {
          if (isAway) throw new Error('away');
          const isClean = !Buffer.from(await read(0, size))
            .toString()
            .includes('Nile');
          return isClean ? { isClean } : { isClean, reason: 'a river' };
        },
      },
    });
    expect((await post(app, withParts(IMAGE))).status).toBe(200);
    const refused = await post(app, withParts(NOTE));
    expect([refused.status, refused.error]).toEqual([422, 'messages.0.parts.0.url: is not accepted']);
    isAway = true;
    expect((await post(app, withParts({ ...NOTE, filename: 'b.txt' }))).status).toBe(503);
    expect(await countFiles(app)).toBe(1);
    expect(app.calls).toHaveLength(1);
    expect(app.incidents.map(({ operation }) => operation)).toEqual([
      'files.blocked',
      'files.moderate',
      'sendChatMessage',
    ]);
  });

  it.each([
    [
      'another scheme',
      withParts({ ...IMAGE, url: 'http://pictures.example/dot.png' }),
      'messages.0.parts.0.url: must be',
    ],
    ['no URL', withParts({ type: 'file', mediaType: 'image/png' }), 'messages.0.parts.0.url: must be'],
    [
      'data without base64',
      withParts({ ...NOTE, url: 'data:text/plain,hello' }),
      'messages.0.parts.0.url: expected',
    ],
    [
      'broken base64',
      withParts({ ...NOTE, url: 'data:text/plain;base64,%%' }),
      'messages.0.parts.0.url: the data',
    ],
    [
      'a type that is not accepted',
      withParts({ ...NOTE, url: 'data:application/x-msdownload;base64,AAAA' }),
      'messages.0.parts.0.url: files of this type',
    ],
    [
      'a URL that the server cannot fetch',
      withParts({ ...IMAGE, url: 'https://a.example' }),
      'messages.0.parts.0.url: ',
    ],
    [
      '21 files',
      withParts(...Array.from({ length: 21 }, () => IMAGE)),
      'messages.0.parts: must contain at most 20',
    ],
    [
      'an unknown part',
      withParts({ type: 'tool-pay', toolCallId: '1', state: 'input-available' }),
      'messages.0.parts.0: ',
    ],
  ])('are refused by name: %s', async (_what, body, message) => {
    const app = await createChatApp({ web: {} });
    const { status, error } = await post(app, body);
    expect([status, error.slice(0, message.length)]).toEqual([422, message]);
    expect(await countFiles(app)).toBe(0);
  });

  it('of another user are unknown', async () => {
    const app = await createSeeingApp();
    await post(app, withParts(NOTE));
    const { body } = await app.json('GET', '/api/chat/c/messages');
    const [part = {}] = body.data[0]?.parts ?? [];
    const grace = await app.token(await app.addUser('grace@example.com'));
    const answer = await app.json('POST', '/api/chat', { body: withParts(part), credential: grace });
    expect(answer.status).toBe(404);
  });
});
