import { createDemoProvider } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatApp, createChatApp, sayAtOnce, silent } from '../support/chat.ts';
import { filledLake } from '../support/lakes.ts';
import { createStudio } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';
import {
  checkChunks,
  fetchFrom,
  getMessageText,
  openPage,
  readChunks,
  type Sdk,
  VERSIONS,
  whileWorking,
} from '../support/use-chat.ts';

const user = (text: string, id?: string) => ({
  ...(id !== undefined && { id }),
  role: 'user',
  parts: [{ type: 'text', text }],
});

async function send(app: ChatApp, body: object): Promise<Record<string, unknown>[]> {
  const response = await fetchFrom(app)('/api/chat', { method: 'POST', body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return readChunks(app, response);
}

/** The stored messages of a chat, as the SDK accepts them. */
async function load(app: ChatApp, sdk: Sdk, id: string) {
  const { status, body } = await app.json('GET', `/api/chat/${id}/messages`);
  expect(status).toBe(200);
  return sdk.validateUIMessages({ messages: body.data });
}

/** An app whose model draws, and answers with a source. */
async function createArtist(): Promise<ChatApp> {
  const model = createScriptedProvider((call) => {
    const last = call.request.messages.at(-1)?.content.at(-1);
    if (last?.type === 'tool_result') call.say(...answerParts('Drawn.'));
    else {
      const input = JSON.stringify({ prompt: 'A hedgehog' });
      call.say({ type: 'tool_use', id: 'c', name: 'generate_image', arguments: input });
    }
    call.end();
  });
  const admin = { DefaultAPIModel: 'scripted', DefaultImageModel: 'painter', EnableDataLakes: true };
  return createChatApp({
    model,
    models: [model, createStudio(), createDemoProvider()],
    settings: { admin },
  });
}

describe.each(VERSIONS)('stored messages in version %s of the AI SDK', (_version, sdk: Sdk) => {
  it('begin a page that continues, edits and regenerates', async () => {
    const app = await createChatApp({ onCall: sayAtOnce('Hello.') });
    await whileWorking(app, openPage(sdk, app, { id: 'rivers' }).send('One'));
    await app.json('GET', '/api/v1/sessions').then(async ({ body }) => {
      await app.chat({ message: 'Two', sessionId: body.data[0]?.id, wait: true });
    });
    const messages = await load(app, sdk, 'rivers');
    expect(messages.map(({ role, parts }) => [role, parts.map(({ type }) => type)])).toEqual([
      ['user', ['text']],
      ['assistant', ['data-quest', 'text', 'data-credits']],
      ['user', ['text']],
      ['assistant', ['data-quest', 'text', 'data-credits']],
    ]);
    expect(messages[1]?.metadata).toMatchObject({
      questId: messages[1]?.id,
      model: 'scripted',
      credits: 0.11,
    });
    const page = openPage(sdk, app, { id: 'rivers', messages });
    await whileWorking(app, page.edit(messages[2]?.id ?? '', 'Too'));
    expect([page.error, ...page.messages.map(getMessageText)]).toEqual([
      undefined,
      'One',
      'Hello.',
      'Too',
      'Hello.',
    ]);
    const again = await load(app, sdk, 'rivers');
    expect(again.map(({ id }) => id)).toEqual(page.messages.map(({ id }) => id));
    await whileWorking(app, page.regenerate(again[1]?.id));
    expect(await load(app, sdk, 'rivers')).toHaveLength(2);
  });

  it('contain the question of a running answer, which resumes', async () => {
    const app = await createChatApp({ onCall: silent });
    const first = openPage(sdk, app, { id: 'rivers' });
    const sent = first.send('One');
    await app.settle();
    await app.clock.advance(100);
    const messages = await load(app, sdk, 'rivers');
    expect(messages.map(getMessageText)).toEqual(['One']);
    expect(messages[0]?.id).toBe(first.messages[0]?.id);
    const page = openPage(sdk, app, { id: 'rivers', messages });
    const resumed = page.resume();
    app.calls[0]?.say(...answerParts('Nile.'));
    app.calls[0]?.end();
    await whileWorking(app, Promise.all([sent, resumed]));
    expect(page.messages.map(getMessageText)).toEqual(['One', 'Nile.']);
    expect((await load(app, sdk, 'rivers')).map(getMessageText)).toEqual(['One', 'Nile.']);
    // While an edit runs, the replaced messages are gone.
    const edited = page.edit(page.messages[0]?.id ?? '', 'Won');
    await app.settle();
    await app.clock.advance(100);
    expect((await load(app, sdk, 'rivers')).map(getMessageText)).toEqual(['Won']);
    app.calls[1]?.say(...answerParts('Amazon.'));
    app.calls[1]?.end();
    await whileWorking(app, edited);
    expect((await load(app, sdk, 'rivers')).map(getMessageText)).toEqual(['Won', 'Amazon.']);
  });

  it('contain the files and sources of an answer, as its stream does', async () => {
    const app = await createArtist();
    const { lakeId } = await filledLake(app, { 'hedgehog.txt': 'A hedgehog sleeps in leaves.' });
    const made = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'S', dataLakeId: lakeId, forceKnowledgeRetrieval: true },
    });
    const id = made.body.id as string;
    const body = { id, messages: [user('Draw where a hedgehog sleeps')], enableTools: true };
    const chunks = await send(app, body);
    await checkChunks(sdk, chunks);
    const [file, ...others] = chunks.filter(({ type }) => type === 'file');
    expect([file, others]).toMatchObject([{ mediaType: 'image/png', url: expect.any(String) }, []]);
    const sources = chunks.filter(({ type }) => type === 'source-document');
    expect(sources).toMatchObject([{ title: 'hedgehog.txt' }]);
    const [, answer] = await load(app, sdk, id);
    expect(answer?.parts.find(({ type }) => type === 'file')).toMatchObject({
      mediaType: 'image/png',
      providerMetadata: file?.providerMetadata,
    });
    expect(answer?.parts.filter(({ type }) => type === 'source-document')).toEqual(sources);
    expect(answer?.parts.filter(({ type }) => type === 'data-payload')).toHaveLength(2);
  });
});

describe('GET /api/chat/{id}/messages', () => {
  it('pages back from the newest messages', async () => {
    const app = await createChatApp();
    for (const text of ['One', 'Two']) await send(app, { id: 'rivers', messages: [user(text, text)] });
    const { body } = await app.json('GET', '/api/chat/rivers/messages?limit=3');
    const texts = (page: { data: Parameters<typeof getMessageText>[0][] }) => page.data.map(getMessageText);
    expect(texts(body)).toEqual(['Hello.', 'Two', 'Hello.']);
    const rest = await app.json('GET', `/api/chat/rivers/messages?limit=3&cursor=${body.next_cursor}`);
    expect([texts(rest.body), rest.body.next_cursor]).toEqual([['One'], null]);
  });

  it('gives messages that a page sent with one id different ids', async () => {
    const app = await createChatApp();
    for (const text of ['One', 'Two']) await send(app, { id: 'rivers', messages: [user(text, 'same')] });
    const { body } = await app.json('GET', '/api/chat/rivers/messages');
    expect(new Set(body.data.map(({ id }: { id: string }) => id)).size).toBe(4);
  });

  it('shows nothing of other users', async () => {
    const app = await createChatApp();
    const chunks = await send(app, { id: 'rivers', messages: [user('SECRET', 'one')] });
    const metadata = chunks[0]?.messageMetadata as { sessionId: string } | undefined;
    const credential = await app.token(await app.addUser('grace@example.com'));
    const named = await app.json('GET', '/api/chat/rivers/messages', { credential });
    expect([named.status, named.body.data]).toEqual([200, []]);
    expect((await app.json('GET', `/api/chat/${metadata?.sessionId}/messages`, { credential })).status).toBe(
      404,
    );
  });
});
