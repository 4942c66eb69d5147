import { complete, QuestlineError } from '@questline/client';
import * as operations from '@questline/client/operations';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createChatApp } from '../../../test/support/chat.ts';
import { createAppClient, createScriptedClient, json } from './support.ts';

async function getError(work: Promise<unknown>): Promise<QuestlineError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof QuestlineError))
    throw new Error('it did not reject with a QuestlineError', { cause: error });
  return error;
}

async function createApp(options: Parameters<typeof createChatApp>[0] = {}) {
  const app = await createChatApp(options);
  onTestFinished(() => app.api.close());
  return app;
}

const COMPLETION = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] } as const;

describe('an error', () => {
  it('has the field of a public operation', async () => {
    const client = createAppClient(await createApp());
    const error = await getError(client.call(operations.sendChatMessage, { body: { message: 1 as never } }));
    expect(error).toMatchObject({ name: 'QuestlineError', status: 422, code: undefined });
    expect(error.fields).toEqual([{ path: 'message', message: expect.stringContaining('expected string') }]);
    expect(error.requestId).toMatch(/./);
    expect(error.body).toMatchObject({ request_id: error.requestId });
  });

  it('has all fields of an application operation', async () => {
    const app = await createApp();
    const client = createAppClient(app, { credential: await app.token() });
    const error = await getError(client.call(operations.listUsers, { query: { limit: 0, page: -1 } }));
    expect(error).toMatchObject({ status: 422, code: 'VALIDATION_ERROR' });
    expect(error.fields.map(({ path }) => path).sort()).toEqual(['limit', 'page']);
  });

  it('has the code of the OAuth format', async () => {
    const client = createAppClient(await createApp());
    const body = { refresh_token: 'x', client_id: 'cli', grant_type: 'refresh_token' } as const;
    const error = await getError(client.call(operations.renewDeviceTokens, { body }));
    expect(error).toMatchObject({ status: expect.any(Number), code: expect.stringMatching(/^invalid_/) });
    expect(error.message).not.toContain('[object');
  });

  it('says that credit is missing', async () => {
    const client = createAppClient(await createApp({ credits: 0.5 }));
    const error = await getError(client.call(operations.createCompletion, { body: COMPLETION }));
    expect(error).toMatchObject({ status: 422, code: 'insufficient_credits', fields: [] });
  });

  it('has what a failed stream was charged', async () => {
    const app = await createApp({
      onCall(call) {
        call.say({ type: 'text', text: 'Hi' });
        call.fail(new ProviderError('failed', 'text of the provider'));
      },
    });
    const texts: string[] = [];
    const read = async (): Promise<void> => {
      for await (const frame of complete(createAppClient(app), COMPLETION))
        if (frame.type === 'content') texts.push(frame.text);
    };
    const error = await getError(read());
    expect(texts).toEqual(['Hi']);
    expect(error.status).toBeUndefined();
    expect(error.charge?.credits).toBeGreaterThan(0);
    expect(error.requestId).toMatch(/./);
  });

  it('has the wait of an overloaded provider', async () => {
    const app = await createApp({
      onCall(call) {
        call.fail(new ProviderError('overloaded', 'busy', { retryAfterMs: 7000 }));
      },
    });
    const error = await getError(
      createAppClient(app).call(operations.createCompletion, { body: COMPLETION }, { retries: 0 }),
    );
    expect(error).toMatchObject({ status: 503, code: 'provider_overloaded', retryAfter: 7 });
  });

  it('has the cause of a network failure', async () => {
    const cause = new TypeError('fetch failed');
    const { client } = createScriptedClient([cause], { retries: 0 });
    const error = await getError(client.call(operations.getMe));
    expect(error).toMatchObject({ status: undefined, code: 'network_error', cause });
  });

  it('reports a page of a proxy in place of an answer', async () => {
    const page = '<html>Bad gateway</html>';
    const { client } = createScriptedClient([
      new Response(page, { status: 502, headers: { 'content-type': 'text/html' } }),
      new Response(page, { headers: { 'content-type': 'application/json' } }),
    ]);
    expect(await getError(client.call(operations.getMe))).toMatchObject({ status: 502, body: page });
    expect(await getError(client.call(operations.getMe))).toMatchObject({
      code: 'invalid_answer',
      body: page,
    });
  });

  it.each(['', '.', '..'])("refuses the id '%s', which would change the path", async (id) => {
    const { client, sent } = createScriptedClient([json({})]);
    await expect(client.call(operations.deleteAgent, { params: { id } })).rejects.toThrow('params.id');
    expect(sent).toEqual([]);
  });

  it('encodes ids', async () => {
    const { client, sent } = createScriptedClient([json({})]);
    await client.call(operations.getSession, { params: { id: 'a/../b?c#d' } });
    expect(sent[0]?.url).toBe('http://questline.test/api/sessions/a%2F..%2Fb%3Fc%23d');
  });
});
