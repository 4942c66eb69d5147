import { once } from 'node:events';
import type { Errand } from './errand.ts';

/** Looks on for a moment: a subscription, a heartbeat, and gone; now and then without a good-bye. */
export const socketErrand: Errand['run'] = async ({ client }, { key, sessionId }, random) => {
  const address = new URL('/api/realtime', client.url);
  address.protocol = 'ws:';
  const socket = new WebSocket(address, [`access_token.${key}`]);
  await once(socket, 'open');
  const told = once(socket, 'message');
  const data = { query: 'session', filters: { sessionId } };
  socket.send(JSON.stringify({ action: 'subscribe_query', data }));
  socket.send('{"action":"heartbeat"}');
  const [{ data: answer }] = (await told) as [MessageEvent];
  if (answer !== 'pong') throw new Error(`expected pong, got ${String(answer)}`);
  const closed = once(socket, 'close');
  if (random.chance(0.5)) socket.send(JSON.stringify({ action: 'unsubscribe_query', data }));
  socket.close();
  await closed;
  return 'closed';
};
