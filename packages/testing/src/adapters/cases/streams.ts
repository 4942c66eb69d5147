import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { AdapterCase } from '../host.ts';
import { events, ScriptedBody, scripted, text } from '../scripted.ts';
import { within } from '../waiting.ts';

const EVENT = 'data: {"text":"na\u00efve"}\n\n';

/** Responses that are produced while they are sent. */
export const streamCases: readonly AdapterCase[] = [
  {
    name: 'sends each event before the next one is made',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      const connection = await host.connect();
      connection.send({ path: '/api/stream' });
      body.push('data: 1\n\n');
      const { status, headers } = await connection.head();
      deepEqual(
        [status, headers['content-type'], headers['content-length']],
        [200, 'text/event-stream', undefined],
      );
      equal((await connection.chunk())?.toString(), 'data: 1\n\n');
      for (const event of ['data: na\u00efve \u2713\n\n', 'data: 3\n\n']) {
        body.push(event);
        equal((await connection.chunk())?.toString(), event);
      }
      body.end();
      equal(await connection.chunk(), undefined);
      deepEqual([body.returns, body.ends], [0, 1]);
    },
  },
  {
    name: 'sends the head before the first event is made',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      const connection = await host.connect();
      connection.send({ path: '/api/stream' });
      equal((await connection.head()).status, 200);
      body.push(EVENT);
      body.end();
      equal((await connection.chunk())?.toString(), EVENT);
      equal(await connection.chunk(), undefined);
    },
  },
  {
    name: 'delays no event behind compression',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({ '/api/stream': () => events(body) }),
        compression: true,
      });
      const connection = await host.connect();
      connection.send({ path: '/api/stream', headers: { 'Accept-Encoding': 'gzip, br' } });
      body.push(EVENT);
      equal((await connection.head()).headers['content-encoding'], undefined);
      equal((await connection.chunk())?.toString(), EVENT);
      body.end();
      equal(await connection.chunk(), undefined);
    },
  },
  {
    name: 'combines the events of one tick in one write',
    async run(stage) {
      const frames = Array.from({ length: 200 }, (_, index) => `data: ${index}\n\n`);
      const burst = async function* () {
        yield* frames;
      };
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(burst()) }) });
      const connection = await host.connect();
      connection.send({ path: '/api/stream' });
      await connection.head();
      equal((await connection.chunk())?.toString(), frames.join(''));
      equal(await connection.chunk(), undefined);
    },
  },
  {
    name: 'keeps the order of text and bytes',
    async run(stage) {
      const mixed = async function* () {
        yield 'one ';
        yield Buffer.from('two ');
        yield '';
        yield 'three ';
        yield 'f\u00f6ur ';
        yield Buffer.from('five');
      };
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(mixed()) }) });
      equal((await host.ask({ path: '/api/stream' })).body.toString(), 'one two three f\u00f6ur five');
    },
  },
  {
    name: 'sends an empty response for a stream without chunks',
    async run(stage) {
      const body = new ScriptedBody();
      body.end();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      const answer = await host.ask({ path: '/api/stream' });
      deepEqual([answer.status, answer.body.length, body.returns, body.ends], [200, 0, 0, 1]);
    },
  },
  {
    name: 'keeps the length of a stream of known length',
    async run(stage) {
      const file = async function* () {
        yield Buffer.from('abc');
        yield Buffer.from('def');
      };
      const host = await stage.start({
        api: scripted({
          '/api/file': () => ({
            status: 200,
            headers: { 'Content-Type': 'application/octet-stream', 'Content-Length': '6' },
            body: file(),
          }),
        }),
      });
      const answer = await host.ask({ path: '/api/file' });
      deepEqual([answer.headers['content-length'], answer.body.toString()], ['6', 'abcdef']);
      equal(answer.headers['transfer-encoding'], undefined);
    },
  },
  {
    name: 'serves the next request on the connection after a stream',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({
        api: scripted({ '/api/stream': () => events(body), '/api/hello': () => text('hello') }),
      });
      const connection = await host.connect();
      connection.send({ path: '/api/stream' });
      body.push(EVENT);
      body.end();
      equal((await connection.answer()).body.toString(), EVENT);
      connection.send({ path: '/api/hello' });
      equal((await connection.answer()).body.toString(), 'hello');
    },
  },
  {
    name: 'breaks the connection off when a stream fails in the middle',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      const connection = await host.connect();
      connection.send({ path: '/api/stream' });
      body.push(EVENT);
      await connection.head();
      equal((await connection.chunk())?.toString(), EVENT);
      body.fail();
      await rejects(connection.chunk(), { name: 'BrokenOff' });
      deepEqual([body.returns, body.ends], [0, 1]);
    },
  },
  {
    name: 'never makes a stream look complete that fails before its first chunk',
    async run(stage) {
      const body = new ScriptedBody();
      body.fail();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      await rejects(host.ask({ path: '/api/stream' }), { name: 'BrokenOff' });
      equal(body.ends, 1);
    },
  },
  {
    name: 'hides a failing stream from the client and the error handler of the host',
    async run(stage) {
      const body = new ScriptedBody();
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(body) }) });
      const connection = await host.connect();
      connection.send({ path: '/api/stream' });
      body.push(EVENT);
      await connection.head();
      await connection.chunk();
      body.fail();
      await connection.closed();
      ok(!host.errors.some((error) => String(error).includes('secret')));
      equal((await host.ask({ path: '/host' })).status, 200);
    },
  },
  {
    name: 'slows the source down for a slow reader',
    async run(stage) {
      const chunk = 'x'.repeat(65_536);
      const total = 1000;
      const source = new Trickle(chunk, total);
      const host = await stage.start({ api: scripted({ '/api/stream': () => events(source) }) });
      const connection = await host.connect();
      connection.send({ path: '/api/stream' });
      await connection.head();
      connection.pause();
      await source.stalled();
      // The socket buffers of the operating system can hold about ten megabytes.
      ok(source.made < total / 3, `the source was let make ${source.made} of ${total} chunks`);
      connection.resume();
      let read = 0;
      for (let one = await connection.chunk(); one !== undefined; one = await connection.chunk())
        read += one.length;
      equal(read, chunk.length * total);
      equal(source.made, total);
    },
  },
  {
    name: 'sends twenty parallel streams whole and ends each once',
    async run(stage) {
      const bodies = Array.from({ length: 20 }, () => new ScriptedBody());
      const host = await stage.start({
        api: scripted({
          '/api/stream': ({ query }) => events(bodies[Number(query)] ?? new ScriptedBody()),
        }),
      });
      const answers = bodies.map((_, index) => host.ask({ path: `/api/stream?${index}` }));
      await within(Promise.all(bodies.map(({ firstRead }) => firstRead)), 'all streams');
      for (const round of [1, 2, 3]) {
        for (const [index, body] of bodies.entries()) body.push(`${index}:${round} `);
      }
      for (const body of bodies) body.end();
      for (const [index, answer] of (await Promise.all(answers)).entries()) {
        equal(answer.body.toString(), [1, 2, 3].map((round) => `${index}:${round} `).join(''));
      }
      deepEqual(
        bodies.map(({ ends, returns }) => [ends, returns]),
        bodies.map(() => [1, 0]),
      );
    },
  },
];

/** Yields one chunk per turn of the event loop, and detects when reading stops. */
class Trickle implements AsyncIterableIterator<string> {
  made = 0;
  readonly #chunk: string;
  readonly #total: number;

  constructor(chunk: string, total: number) {
    this.#chunk = chunk;
    this.#total = total;
  }

  async next(): Promise<IteratorResult<string>> {
    await new Promise(setImmediate);
    if (this.made === this.#total) return { done: true, value: undefined };
    this.made += 1;
    return { done: false, value: this.#chunk };
  }

  /** Ended, or not read for 200 ms: only time shows that reading has stopped. */
  async stalled(): Promise<void> {
    for (let before = -1; before !== this.made; ) {
      before = this.made;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
