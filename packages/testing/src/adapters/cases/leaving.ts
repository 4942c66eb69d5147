import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ApiRequest, ApiResponse } from '@questline/core';
import type { Connection } from '../connection.ts';
import type { AdapterCase, Stage } from '../host.ts';
import { events, json, ScriptedBody, scripted, text } from '../scripted.ts';
import { aborted, signalled, within } from '../waiting.ts';

/** Maximum milliseconds from a disconnect to the end of the work. */
const PROMISED = 250;

/** Disconnects, and checks that the signal aborts and the source is cancelled, in time and once. */
async function leave(connection: Connection, signal: AbortSignal, body: ScriptedBody): Promise<void> {
  const since = performance.now();
  connection.leave();
  await within(Promise.all([aborted(signal), body.returned]), 'the end of the work');
  const took = performance.now() - since;
  ok(took <= PROMISED, `the work went on for ${Math.round(took)} ms after the client had left`);
  deepEqual([body.returns, body.ends], [1, 1]);
}

/** A stream that exposes the signal of its request. */
function watched(body: ScriptedBody) {
  const signal = signalled<AbortSignal>();
  const answer = (request: ApiRequest): ApiResponse => {
    signal.resolve(request.signal);
    return events(body);
  };
  return { signal: signal.promise, answer };
}

async function open(stage: Stage, body: ScriptedBody) {
  const { signal, answer } = watched(body);
  const host = await stage.start({
    api: scripted({ '/api/stream': answer, '/api/hello': () => text('hello') }),
  });
  const connection = await host.connect();
  connection.send({ path: '/api/stream' });
  return { host, connection, signal: await within(signal, 'the request') };
}

/** Clients that disconnect before the end of the response. */
export const leavingCases: readonly AdapterCase[] = [
  {
    name: 'stops the work when the client leaves before the first event',
    async run(stage) {
      const body = new ScriptedBody();
      const { connection, signal } = await open(stage, body);
      await within(body.firstRead, 'the first read');
      await leave(connection, signal, body);
    },
  },
  {
    name: 'stops the work when the client leaves in the middle of a stream',
    async run(stage) {
      const body = new ScriptedBody();
      const { connection, signal, host } = await open(stage, body);
      body.push('data: 1\n\n');
      await connection.head();
      await connection.chunk();
      await leave(connection, signal, body);
      equal((await host.ask({ path: '/api/hello' })).status, 200);
    },
  },
  {
    name: 'stops the work when the client leaves while a stream waits for a slow reader',
    async run(stage) {
      const body = new ScriptedBody();
      const { connection, signal } = await open(stage, body);
      await connection.head();
      connection.pause();
      for (let made = 0; made < 400; made++) body.push('x'.repeat(65_536));
      await new Promise(setImmediate);
      await leave(connection, signal, body);
      ok(body.reads < 400);
    },
  },
  {
    name: 'aborts the signal and returns the stream unread when the client leaves before the response',
    async run(stage) {
      const asked = signalled<AbortSignal>();
      const go = signalled();
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({
          '/api/stream': async ({ signal }) => {
            asked.resolve(signal);
            await go.promise;
            return events(body);
          },
        }),
      });
      const connection = await host.connect();
      connection.send({ path: '/api/stream' });
      const signal = await within(asked.promise, 'the request');
      connection.leave();
      await within(aborted(signal), 'the signal', PROMISED);
      go.resolve();
      await within(body.returned, 'the return of the stream');
      deepEqual([body.reads, body.returns], [0, 1]);
    },
  },
  {
    name: 'ignores a text response when the client has left before it',
    async run(stage) {
      const asked = signalled<AbortSignal>();
      const go = signalled();
      const host = await stage.start({
        api: scripted({
          '/api/slow': async ({ signal }) => {
            asked.resolve(signal);
            await go.promise;
            return json({ late: true });
          },
          '/api/hello': () => text('hello'),
        }),
      });
      const connection = await host.connect();
      connection.send({ path: '/api/slow' });
      const signal = await within(asked.promise, 'the request');
      connection.leave();
      await within(aborted(signal), 'the signal');
      go.resolve();
      equal((await host.ask({ path: '/api/hello' })).status, 200);
      deepEqual(host.errors, []);
    },
  },
  {
    name: 'returns an aborted signal after the client has left',
    async run(stage) {
      const asked = signalled<ApiRequest>();
      const go = signalled();
      const host = await stage.start({
        api: scripted({
          '/api/slow': async (request) => {
            asked.resolve(request);
            await go.promise;
            return json({ late: true });
          },
          '/api/watch': () => text('here'),
        }),
      });
      const watching = await host.connect();
      const connection = await host.connect();
      connection.send({ path: '/api/slow' });
      const request = await within(asked.promise, 'the request');
      connection.leave();
      // After two exchanges the server has noticed that the first connection is closed.
      for (let round = 0; round < 2; round++) {
        watching.send({ path: '/api/watch' });
        await watching.answer();
      }
      await within(aborted(request.signal), 'the signal');
      go.resolve();
    },
  },
  {
    name: 'does not abort the signal after a whole body and response',
    async run(stage) {
      const signals: AbortSignal[] = [];
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({
          '/api/echo': async ({ body, signal }) => {
            signals.push(signal);
            return text(String((await body.bytes(1000)).length));
          },
          '/api/stream': async ({ body: sent, signal }) => {
            signals.push(signal);
            await sent.bytes(1000);
            return events(body);
          },
        }),
      });
      const connection = await host.connect();
      connection.send({ method: 'POST', path: '/api/echo', body: 'abc' });
      equal((await connection.answer()).body.toString(), '3');
      connection.send({ method: 'POST', path: '/api/stream', body: 'abc' });
      body.push('data: 1\n\n');
      await connection.head();
      await connection.chunk();
      ok(
        signals.every(({ aborted }) => !aborted),
        'aborted while the client was there',
      );
      body.end();
      equal(await connection.chunk(), undefined);
      connection.leave();
      await connection.closed();
      equal((await host.ask({ method: 'POST', path: '/api/echo', body: '' })).status, 200);
      ok(
        signals.every(({ aborted }) => !aborted),
        'aborted after the answer was finished',
      );
    },
  },
  {
    name: 'stops a response that waits behind a pipelined one when the client leaves',
    async run(stage) {
      const [first, second] = [new ScriptedBody(), new ScriptedBody()];
      const [one, two] = [watched(first), watched(second)];
      const host = await stage.start({ api: scripted({ '/api/one': one.answer, '/api/two': two.answer }) });
      const connection = await host.connect();
      connection.send({ path: '/api/one' });
      connection.send({ path: '/api/two' });
      const signals = await within(Promise.all([one.signal, two.signal]), 'both requests');
      await within(second.firstRead, 'the first read');
      connection.leave();
      await within(Promise.all(signals.map(aborted)), 'both signals');
      await within(Promise.all([first.returned, second.returned]), 'the return of both streams');
      deepEqual([first.ends, second.ends], [1, 1]);
    },
  },
];
