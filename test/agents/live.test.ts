import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRealtime } from '@questline/realtime';
import { expect, it, onTestFinished } from 'vitest';
import { openClient } from '../../packages/realtime/test/client.ts';
import { addAgent } from '../support/agents.ts';
import { createChatWorld } from '../support/chat.ts';
import { NOW } from '../support/world.ts';

const GRACE = 'a'.repeat(24);

it('what a session’s agents do is seen at a socket, from attaching to answering to detaching, until logout', async () => {
  const world = await createChatWorld();
  await addAgent(world, { id: GRACE, name: 'Grace' });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  createRealtime(world.services).attach(server);

  const credential = await world.token();
  const sessionId = (await world.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/api/realtime`;
  const client = await openClient(url, [`access_token.${credential}`]);
  client.subscribe(sessionId);
  await client.settled();

  const path = `/api/sessions/${sessionId}/agents`;
  await world.json('POST', path, { body: { agentId: GRACE }, credential });
  const { body } = await world.chat({ sessionId, message: 'Dear @grace', wait: true, enableAgents: true });
  await world.json('DELETE', `${path}?agentId=${GRACE}`, { credential });
  const agent = { id: GRACE, name: 'Grace', avatarUrl: null };
  const common = { sessionId, timestamp: new Date(NOW).toISOString() };
  const seen = [await client.next(), await client.next(), await client.next(), await client.next()];
  expect(seen).toEqual([
    { ...common, type: 'agent_attached', agent },
    { ...common, type: 'agent_thinking', agents: [GRACE] },
    { ...common, type: 'agent_response', messageId: body.id, contributingAgents: [agent] },
    { ...common, type: 'agent_detached', agentId: GRACE },
  ]);

  await world.ask('GET', '/api/logout', { credential });
  await world.clock.advance(5000);
  expect((await client.closed).code).toBe(4401);
});
