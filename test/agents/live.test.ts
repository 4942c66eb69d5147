import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRealtime } from '@questline/realtime';
import { expect, it, onTestFinished } from 'vitest';
import { openClient } from '../../packages/realtime/test/client.ts';
import { addAgent } from '../support/agents.ts';
import { createChatApp } from '../support/chat.ts';
import { NOW } from '../support/test-app.ts';

const GRACE = 'a'.repeat(24);

it('delivers agent events to a socket from attachment to answer to detachment, until logout', async () => {
  const app = await createChatApp();
  await addAgent(app, { id: GRACE, name: 'Grace' });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  createRealtime(app.services).attach(server);

  const credential = await app.token();
  const sessionId = (await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/api/realtime`;
  const client = await openClient(url, [`access_token.${credential}`]);
  client.subscribe(sessionId);
  await client.settled();

  const path = `/api/sessions/${sessionId}/agents`;
  await app.json('POST', path, { body: { agentId: GRACE }, credential });
  const { body } = await app.chat({ sessionId, message: 'Dear @grace', wait: true, enableAgents: true });
  await app.json('DELETE', `${path}?agentId=${GRACE}`, { credential });
  const agent = { id: GRACE, name: 'Grace', avatarUrl: null };
  const common = { sessionId, timestamp: new Date(NOW).toISOString() };
  const seen = [await client.next(), await client.next(), await client.next(), await client.next()];
  expect(seen).toEqual([
    { ...common, type: 'agent_attached', agent },
    { ...common, type: 'agent_thinking', agents: [GRACE] },
    { ...common, type: 'agent_response', messageId: body.id, contributingAgents: [agent] },
    { ...common, type: 'agent_detached', agentId: GRACE },
  ]);

  await app.ask('GET', '/api/logout', { credential });
  await app.clock.advance(5000);
  expect((await client.closed).code).toBe(4401);
});
