import 'reflect-metadata';
import { Controller, Get, type MiddlewareConsumer, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createApi, createDemoProvider, createServices, createUser, issueApiKey } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { toExpress } from '@questline/express';
import express from 'express';
import express4 from 'express4';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const services = createServices(
  { ...createMemoryPorts(), models: [createDemoProvider()] },
  { jwtSecret: 'a'.repeat(64), admin: { enforceCredits: false } },
);
const api = createApi(services);

class UsersController {
  list() {
    return ['the host'];
  }
}
Get()(UsersController.prototype, 'list', { value: UsersController.prototype.list });
Controller('api/users')(UsersController);

class AppModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(toExpress(api)).exclude('api/users').forRoutes('{*path}');
  }
}
Module({ controllers: [UsersController] })(AppModule);

describe('mounted into a NestJS application with `forRoutes`', () => {
  let app: NestExpressApplication;
  let key = '';
  beforeAll(async () => {
    app = await NestFactory.create<NestExpressApplication>(AppModule, { logger: false, bodyParser: false });
    await app.init();
    const user = await createUser(services, { email: 'ann@example.com', username: 'ann' });
    const issued = await issueApiKey(services, {
      userId: user?.id ?? '',
      name: 'first',
      scopes: ['ai:chat'],
    });
    key = issued.key;
  });
  afterAll(async () => {
    await app.close();
    await api.close();
  });

  it('answers a chat, and returns the quest at its address', async () => {
    const chat = await request(app.getHttpServer())
      .post('/api/chat')
      .set('Authorization', `Bearer ${key}`)
      .send({ message: 'Hello', newConversation: true, wait: true });
    expect([chat.status, chat.body.status]).toEqual([200, 'done']);
    const quest = await request(app.getHttpServer())
      .get(`${chat.body.tracking_info.poll_url}?x=1`)
      .set('Authorization', `Bearer ${key}`);
    expect([quest.status, quest.body.status]).toEqual([200, 'done']);
  });

  it('does not affect the routes of the application', async () => {
    const own = await request(app.getHttpServer()).get('/api/users');
    expect([own.status, own.body]).toEqual([200, ['the host']]);
    expect((await request(app.getHttpServer()).get('/nothing')).status).toBe(404);
  });
});

describe.each([
  ['Express 5', express, '/{*path}', '/ai/{*path}'],
  ['Express 4', express4 as unknown as typeof express, '*', '/ai/*'],
])('mounted below a wildcard of %s', (_name, create, all, below) => {
  const seen = {
    handle: async ({ path, query, mountPath }: { path: string; query: string; mountPath: string }) => ({
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify([mountPath, path, query]),
    }),
  };

  it('uses the part that the wildcard matched as its path', async () => {
    const app = create().use(all, toExpress(seen));
    expect((await request(app).get('/api/caf%C3%A9/x%2Fy?a=1')).body).toEqual([
      '',
      '/api/caf%C3%A9/x%2Fy',
      'a=1',
    ]);
    expect((await request(app).get('/')).body).toEqual(['', '/', '']);
  });

  it('uses the path before the wildcard as its mount path', async () => {
    const app = create().use(below, toExpress(seen));
    expect((await request(app).get('/ai/api/chat?a=1')).body).toEqual(['/ai', '/api/chat', 'a=1']);
  });
});
