import { describe, expect, it } from 'vitest';
import { createOpenAIApp, readError } from './support.ts';

const user = (content: string) => ({ role: 'user' as const, content });

describe('answers about a conversation', () => {
  it('have status 200 and the time of its creation in seconds', async () => {
    const app = await createOpenAIApp();
    const begun = Math.floor(app.services.clock.now() / 1000);
    const made = await app.send('POST', '/conversations', { items: [user('a')] });
    const created = (await made.json()) as { id: string; created_at: number };
    expect(made.status).toBe(200);
    expect(created.created_at).toBeGreaterThanOrEqual(begun);
    expect(created.created_at).toBeLessThanOrEqual(Math.floor(app.services.clock.now() / 1000));
    const path = `/conversations/${created.id}`;
    const added = await app.send('POST', `${path}/items`, { items: [user('b'), user('c')] });
    const page = (await added.json()) as { data: { id: string }[]; has_more: boolean };
    expect([added.status, page.has_more, page.data.length]).toEqual([200, false, 2]);
    const item = `${path}/items/${page.data[0]?.id}`;
    for (const [method, at, body] of [
      ['GET', path],
      ['POST', path, { metadata: { a: 'b' } }],
      ['GET', `${path}/items`],
      ['GET', item],
      ['DELETE', item],
      ['DELETE', path],
    ] as const) {
      expect([method, at, (await app.send(method, at, body)).status]).toEqual([method, at, 200]);
    }
  });

  it('say that it is gone to all but one who delete it at the same time', async () => {
    const app = await createOpenAIApp();
    const { id } = await app.client.conversations.create();
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => app.send('DELETE', `/conversations/${id}`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404]);
  });

  it('name what is unknown, up to 200 characters', async () => {
    const app = await createOpenAIApp();
    const { id } = await app.client.conversations.create();
    const long = 'x'.repeat(201);
    const cut = 'x'.repeat(200);
    for (const [path, message] of [
      [`/conversations/${long}`, `Conversation with id '${cut}' not found.`],
      [`/conversations/${id}/items/${long}`, `Item with id '${cut}' not found in the conversation.`],
    ] as const) {
      const answer = await app.send('GET', path);
      expect([answer.status, (await readError(answer)).message]).toEqual([404, message]);
    }
  });
});

describe('response in a conversation', () => {
  it('names the fields that are ignored', async () => {
    const app = await createOpenAIApp();
    const conversation = (await app.client.conversations.create()).id;
    const body = { model: 'scripted', input: 'a', conversation, service_tier: 'flex', user: 'u' };
    const answer = await app.send('POST', '/responses', body);
    expect([answer.status, answer.headers.get('x-ignored-fields')]).toEqual([200, 'service_tier, user']);
  });
});
