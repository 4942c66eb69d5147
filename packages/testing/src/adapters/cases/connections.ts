import { deepEqual, equal } from 'node:assert/strict';
import type { AdapterCase } from '../host.ts';
import { events, ScriptedBody, scripted, text } from '../scripted.ts';
import { signalled, within } from '../waiting.ts';

/** Several requests on a connection, and older clients. */
export const connectionCases: readonly AdapterCase[] = [
  {
    name: 'answers pipelined requests in order',
    async run(stage) {
      const slow = signalled();
      const fast = signalled();
      const host = await stage.start({
        api: scripted({
          '/api/slow': async () => {
            await slow.promise;
            return text('slow');
          },
          '/api/fast': () => {
            fast.resolve();
            return text('fast');
          },
        }),
      });
      const connection = await host.connect();
      connection.send({ path: '/api/slow' });
      connection.send({ path: '/api/fast' });
      connection.send({ path: '/host' });
      await within(fast.promise, 'the second request');
      slow.resolve();
      const bodies: string[] = [];
      for (let count = 0; count < 3; count++) bodies.push((await connection.answer()).body.toString());
      deepEqual(bodies, ['slow', 'fast', 'the host']);
    },
  },
  {
    name: 'sends a pipelined stream whole after the response before it',
    async run(stage) {
      const slow = signalled();
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({
          '/api/slow': async () => {
            await slow.promise;
            return text('slow');
          },
          '/api/stream': () => events(body),
        }),
      });
      const connection = await host.connect();
      connection.send({ path: '/api/slow' });
      connection.send({ path: '/api/stream' });
      await within(body.firstRead, 'the first read');
      for (let made = 0; made < 10; made++) body.push('x'.repeat(10_000));
      body.end();
      slow.resolve();
      equal((await connection.answer()).body.toString(), 'slow');
      equal((await connection.answer()).body.length, 100_000);
      deepEqual([body.returns, body.ends], [0, 1]);
    },
  },
  {
    name: 'sends the stream and then closes for a client that asks to close',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      const connection = await host.connect();
      connection.send({ path: '/api/stream', headers: { Connection: 'close' } });
      body.push('data: 1\n\n');
      body.end();
      equal((await connection.answer()).body.toString(), 'data: 1\n\n');
      await connection.closed();
    },
  },
  {
    name: 'sends a stream without chunks to an HTTP/1.0 client',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      const connection = await host.connect();
      connection.write('GET /api/stream HTTP/1.0\r\nHost: test.example\r\n\r\n');
      body.push('data: 1\n\n');
      body.push('data: 2\n\n');
      body.end();
      const answer = await connection.answer();
      deepEqual([answer.status, answer.headers['transfer-encoding']], [200, undefined]);
      equal(answer.body.toString(), 'data: 1\n\ndata: 2\n\n');
    },
  },
];
