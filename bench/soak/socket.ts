import { once } from 'node:events';
import type { Scenario } from './scenario.ts';

/** Subscribes, sends a heartbeat and disconnects, sometimes without a close frame. */
export const useSocket: Scenario['run'] = async ({ client }, { key, sessionId }, random) => {
  const address = new URL('/api/realtime', client.url);
  address.protocol = 'ws:';
  const socket = new WebSocket(address, [`access_token.${key}`]);
  await once(socket, 'open');
  const reply = once(socket, 'message');
  const data = { query: 'session', filters: { sessionId } };
  socket.send(JSON.stringify({ action: 'subscribe_query', data }));
  socket.send('{"action":"heartbeat"}');
  const [{ data: answer }] = (await reply) as [MessageEvent];
  if (answer !== 'pong') throw new Error(`expected pong, got ${String(answer)}`);
  const closed = once(socket, 'close');
  if (random.chance(0.5)) socket.send(JSON.stringify({ action: 'unsubscribe_query', data }));
  socket.close();
  await closed;
  return 'closed';
};
