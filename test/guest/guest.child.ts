/**
 * A separate host process: records global state, uses two complete services, closes them, and lets the
 * process end.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

// zod keeps its configuration and registry in two globals; most hosts have loaded it anyway.
await import('zod');
const before = snapshot();

const core = await import('@questline/core');
const memory = await import('@questline/core/memory');
const { createOpenAIProvider } = await import('@questline/providers/openai');

async function createInstance(name: string): Promise<{ api: import('@questline/core').Api; key: string }> {
  const clock = memory.createSystemClock();
  const services = core.createServices(
    {
      store: memory.createMemoryStore(),
      ledger: memory.createMemoryLedger({ clock }),
      limiter: memory.createMemoryLimiter(),
      models: [
        core.createDemoProvider(),
        createOpenAIProvider({ apiKey: 'none', baseUrl: 'http://127.0.0.1:9/v1' }),
      ],
    },
    { jwtSecret: name.repeat(64).slice(0, 64), admin: { enforceCredits: false } },
  );
  const user = await core.createUser(services, { email: `${name}@example.com`, username: name });
  const { key } = await core.issueApiKey(services, { userId: user?.id ?? '', name, scopes: ['ai:chat'] });
  return { api: core.createApi(services), key };
}

const [one, two] = [await createInstance('one'), await createInstance('two')];
const servers = await Promise.all([listen(one.api), listen(two.api)]);
const ask = async (index: number, key: string): Promise<[number, string]> => {
  const { port } = servers[index === 0 ? 0 : 1].address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/api/ai/v1/completions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', Connection: 'close' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'hello' }] }),
  });
  return [response.status, (await response.text()).slice(-16)];
};
const answers = {
  own: [await ask(0, one.key), await ask(1, two.key)],
  foreign: [await ask(0, two.key), await ask(1, one.key)],
};
const after = snapshot();
await Promise.all([one.api.close(), two.api.close()]);
await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
const closed = performance.now();
// Nothing is left that could keep the process alive.
process.once('beforeExit', () => {
  process.stdout.write(JSON.stringify({ before, after, answers, idleAfterMs: performance.now() - closed }));
});

async function listen(api: import('@questline/core').Mountable): Promise<Server> {
  const server = createServer(core.toNodeListener(api)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Global state that a library could change. */
function snapshot(): Record<string, unknown> {
  const shared = [Object, Array, String, Promise, Map, Error, Uint8Array, Function, Date, RegExp];
  return {
    globals: Object.getOwnPropertyNames(globalThis).sort(),
    symbols: Object.getOwnPropertySymbols(globalThis)
      .map(String)
      // undici, which Node's fetch uses, stores its dispatcher in a global symbol.
      .filter((symbol) => !symbol.includes('undici'))
      .sort(),
    prototypes: shared.map((kind) => Reflect.ownKeys(kind.prototype).map(String).sort()),
    statics: shared.map((kind) => Reflect.ownKeys(kind).map(String).sort()),
    events: process.eventNames().map(String).sort(),
    environment: { ...process.env },
    workingFolder: process.cwd(),
    console: Object.values(console).map(String),
  };
}
