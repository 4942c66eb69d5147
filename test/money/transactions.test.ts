import { fromCredits } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { grant, type PaidCall, pay } from '../support/charges.ts';
import { createHostApp } from '../support/host.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp, NOW, type TestApp } from '../support/test-app.ts';

const DAY_MS = 86_400_000;

const read = async (app: TestApp, query = '') =>
  (await callAs(app, app.user, 'GET', `/api/credits/transactions${query}`)).body;

describe('the list of transactions', () => {
  it.each<[string, PaidCall]>([
    ['completion_api_usage', { operation: 'createCompletion', usage: { output: 1 } }],
    ['video_generation_usage', { operation: 'createVideoGeneration', usage: { seconds: 1 } }],
    ['image_edit_usage', { operation: 'editImage', usage: { images: 1 } }],
    ['image_generation_usage', { operation: 'generateImage' }],
    ['tool_usage', { operation: 'executeTool', usage: { images: 1 } }],
    ['sound_effects_usage', { operation: 'generateSoundEffect' }],
    ['text_to_speech_usage', { operation: 'synthesizeSpeech' }],
    ['speech_to_text_usage', { operation: 'createTranscription' }],
    ['speech_to_text_usage', { operation: 'transcribeAtOnce' }],
    ['image_generation_usage', { usage: { images: 1, output: 2 } }],
    ['text_generation_usage', { usage: { input: 1, output: 1 } }],
    ['text_generation_usage', { usage: { input: 1, reasoning: 1 } }],
    ['generic_deduct', { usage: { input: 1 } }],
    ['generic_deduct', {}],
  ])('names the work %s of %j', async (type, call) => {
    const app = await createTestApp();
    await pay(app, call);
    expect(await read(app)).toMatchObject([{ type }]);
  });

  it('contains what is known of a call', async () => {
    const app = await createTestApp();
    await pay(app, { operation: 'chat', model: 'scripted', requestId: 'r1', amount: 1_500_000 });
    await app.clock.advance(1);
    await pay(app);
    const common = { id: expect.any(String), created_at: new Date(NOW).toISOString() };
    expect(await read(app)).toEqual([
      {
        type: 'generic_deduct',
        credits: 1,
        metadata: { ...common, operation: 'test', created_at: new Date(NOW + 1).toISOString() },
      },
      {
        type: 'generic_deduct',
        credits: 1.5,
        model: 'scripted',
        metadata: { ...common, operation: 'chat', request_id: 'r1' },
      },
    ]);
  });

  it('contains a charge of the least amount', async () => {
    const app = await createTestApp();
    await pay(app, { amount: 1 });
    expect(await read(app)).toMatchObject([{ credits: 0.000001 }]);
  });

  it('contains no running, free or released work, nor that of others', async () => {
    const app = await createTestApp();
    const grace = await app.addUser('grace@example.com');
    await grant(app, `user:${grace.id}`, 10);
    await pay(app, { account: `user:${grace.id}`, userId: grace.id });
    await pay(app, { end: 'reserved' });
    await pay(app, { end: 'released' });
    await pay(app, { amount: 0 });
    expect(await read(app)).toEqual([]);
  });

  it('goes back 30 days, or the days of the request, to the millisecond', async () => {
    const app = await createTestApp();
    await pay(app);
    await app.clock.advance(2 * DAY_MS);
    expect(await read(app, '?days=2')).toHaveLength(1);
    await app.clock.advance(1);
    expect(await read(app, '?days=2')).toEqual([]);
    expect(await read(app, '?days=3')).toHaveLength(1);
    await app.clock.advance(28 * DAY_MS - 1);
    expect(await read(app)).toHaveLength(1);
    await app.clock.advance(1);
    expect(await read(app)).toEqual([]);
  });

  it('contains the own calls that the organization named by the host has paid', async () => {
    const host = await createHostApp();
    const { app } = host;
    const alice = { externalId: 'alice' };
    const { id: userId } = (await host.ask(host.signIn(alice), 'GET', '/api/v1/me')).body as { id: string };
    const { id } = await addOrganization(app, { readerIds: [userId] });
    const account = `organization:${id}`;
    await grant(app, account, 100);
    await grant(app, `user:${userId}`, 100);
    await pay(app, { account, userId, amount: fromCredits(1) });
    await pay(app, { account, userId: app.user.id, amount: fromCredits(2) });
    await pay(app, { account: `user:${userId}`, userId, amount: fromCredits(4) });
    const paid = host.signIn({ ...alice, organizationId: id });
    const list = await host.ask(paid, 'GET', '/api/credits/transactions');
    expect(list.body).toMatchObject([{ credits: 1 }]);
    const usage = await host.ask(paid, 'GET', '/api/v1/usage');
    expect(usage.body).toMatchObject({ spend: { last_24h: 1 }, recent: [{ credits: 1 }] });
  });
});
