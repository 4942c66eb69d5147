import { describe, expect, it } from 'vitest';
import { hold, SLOW, setUp } from './connection.ts';

describe('events of a connection', () => {
  it('are delivered as the user may see them, also after a failure, which is reported', async () => {
    const { given, socket, incidents, subscribe, publish, settle } = await setUp();
    await subscribe();
    const error = new Error('away');
    given.show = () => Promise.reject(error);
    publish();
    await settle();
    given.show = async () => undefined;
    publish();
    await settle();
    given.show = async (event) => event;
    publish();
    await settle();
    expect(incidents).toEqual([{ operation: 'realtime', requestId: '', error }]);
    expect(socket.sent.map((text) => JSON.parse(text).type)).toEqual(['agent_thinking']);
  });

  it('end with their subscription, and begin with the next one', async () => {
    const { socket, listeners, subscribe, unsubscribe, publish, settle } = await setUp();
    await subscribe();
    await subscribe();
    expect(listeners.size).toBe(1);
    await unsubscribe();
    expect(listeners.size).toBe(0);
    await subscribe();
    publish();
    await settle();
    expect(socket.sent).toHaveLength(1);
  });

  it('may be 256 that wait: one more closes the socket', async () => {
    const { given, socket, subscribe, publish, settle } = await setUp();
    await subscribe();
    for (let round = 1; round <= 2; round += 1) {
      const { held, release } = hold();
      given.show = async (event) => {
        await held;
        return event;
      };
      publish();
      await settle();
      publish(256);
      release();
      await settle();
      expect([socket.sent.length, socket.closes]).toEqual([round * 257, []]);
    }
    given.show = () => new Promise(() => undefined);
    publish();
    await settle();
    publish(257);
    expect(socket.closes).toEqual([SLOW]);
  });

  it('are not sent when the socket closes while they are looked up, nor are those behind them', async () => {
    const { given, socket, listeners, subscribe, publish, settle } = await setUp();
    await subscribe();
    const { held, release } = hold();
    let shown = 0;
    given.show = async (event) => {
      shown += 1;
      await held;
      return event;
    };
    publish(3);
    await settle();
    socket.emit('close');
    release();
    await settle();
    expect([socket.sent, shown, listeners.size]).toEqual([[], 1, 0]);
  });

  it('are not subscribed to once the socket is closed, and a failure of that is reported', async () => {
    const { given, socket, listeners, incidents, subscribe, settle } = await setUp();
    const { held, release } = hold();
    const error = new Error('away');
    given.starting = () => held;
    given.stopping = () => Promise.reject(error);
    await subscribe();
    socket.emit('close');
    release();
    await settle();
    expect([listeners.size, incidents]).toEqual([0, [{ operation: 'realtime', requestId: '', error }]]);
  });

  it('end with a failure that is reported', async () => {
    const { given, incidents, subscribe, unsubscribe } = await setUp();
    const error = new Error('away');
    given.stopping = () => Promise.reject(error);
    await subscribe();
    await unsubscribe();
    expect(incidents).toEqual([{ operation: 'realtime', requestId: '', error }]);
  });
});
