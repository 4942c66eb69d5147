import { createChatHandler, createQuestPoller } from '@questline/core';
import { toExpress } from '@questline/express';
import express from 'express';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider } from './support/model.ts';
import { createTestApp } from './support/test-app.ts';

describe('handler factories at paths of the host', () => {
  it('accept a chat and return its quest', async () => {
    const provider = createScriptedProvider((call) => {
      call.say({ type: 'text', text: 'Hi' });
      call.end();
    });
    const { api, services, key, settle } = await createTestApp({ models: [provider], credits: 1000 });
    await api.start();
    const host = express();
    host.post('/say', toExpress(createChatHandler(services)));
    host.get('/answers/:id', toExpress(createQuestPoller(services)));
    const accepted = await request(host)
      .post('/say')
      .set('x-api-key', key)
      .send({ message: 'Hello', model: 'scripted', newConversation: true });
    expect(accepted.status).toBe(200);
    await settle();
    const answer = await request(host).get(`/answers/${accepted.body.id}`).set('x-api-key', key);
    expect(answer).toMatchObject({ status: 200, body: { status: 'done', reply: 'Hi' } });
    await api.close();
  });
});
