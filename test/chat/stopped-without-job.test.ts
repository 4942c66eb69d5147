import { QUESTS } from '@questline/core/internal';
import { expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';

it.each([
  ['before a worker began', 'pending'],
  ['while its worker ran', 'running'],
] as const)('closes a turn that was stopped %s, although its job is lost', async (_when, status) => {
  const app = await createChatApp({ started: false });
  const { store, queue, worker } = app.services;
  const quests = store.collection(QUESTS);
  const { id, sessionId } = (await app.json('POST', '/api/chat', { body: { message: 'A question' } })).body;
  const [job] = await queue.lease({ kinds: ['chat'], limit: 1, leaseMs: worker.leaseMs });
  if (job === undefined) throw new Error('no job');
  if (status === 'running') await quests.update(id, { status, jobId: job.id, fence: job.fence });
  expect((await app.json('POST', `/api/v1/quests/${id}/cancel`)).status).toBe(200);
  await queue.finish(job);

  await app.api.start();
  await app.clock.advance(2 * worker.leaseMs);
  await app.settle();
  expect(await quests.get(id, { liveSince: null, jobId: { not: null } })).toMatchObject({
    status: 'stopped',
  });
  const { body } = await app.json('GET', `/api/sessions/${sessionId}/messages`, {
    credential: await app.token(),
  });
  expect(JSON.stringify(body)).toContain('A question');
  expect((await app.ledger.balance(app.account)).held).toBe(0);
});
