/**
 * Traces one chat turn through `packages/core/src`, from the claim of its quest to its conclusion, on memory
 * ports. Prints the files in the order in which the turn enters them, and counts the folders and the returns:
 * how often the next file is in a folder that was left before. The store, ledger, queue and limiter in
 * `memory/` replace a host's infrastructure and are not counted.
 *
 * Usage: npm run chat-walk -- [--json] [--functions]
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { root } from './packages.ts';

const SRC = join(root, 'packages/core/src');
const ENTERED = '__questlineEntered';

/** Functions in the order of their first call, as `file#name:line`. */
const entered = new Set<string>();
/** Set within the traced job, so that other work of the process is not counted. */
const traced = new AsyncLocalStorage<true>();
Object.assign(globalThis, {
  [ENTERED]: (name: string) => {
    if (traced.getStore() === true) entered.add(name);
  },
});

/** Adds a call at the beginning of every function. */
function instrument(file: string, text: string): string {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const edits: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const body = node.body as ts.ConciseBody;
      const name = node.name?.getText(source) ?? '';
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      const call = `${ENTERED}(${JSON.stringify(`${file}#${name}:${line}`)})`;
      if (ts.isBlock(body)) edits.push({ at: body.getStart(source) + 1, text: `${call};` });
      else {
        edits.push({ at: body.getStart(source), text: `(${call},` }, { at: body.getEnd(), text: ')' });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let result = text;
  for (const { at, text: added } of edits.toSorted((a, b) => b.at - a.at)) {
    result = result.slice(0, at) + added + result.slice(at);
  }
  return result;
}

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith(pathToFileURL(SRC).href) || !url.endsWith('.ts')) return nextLoad(url, context);
    const path = fileURLToPath(url);
    const source = instrument(relative(SRC, path).split(sep).join('/'), readFileSync(path, 'utf8'));
    return { format: 'module-typescript', source, shortCircuit: true };
  },
});

const core = await import('@questline/core');
const memory = await import('@questline/core/memory');
type Queue = ReturnType<typeof memory.createMemoryPorts>['queue'];

/** Delivers no job before `open`, so that the message is accepted before the turn begins. */
function createGatedQueue(queue: Queue) {
  let isOpen = false;
  let resolve = () => {};
  const finished = new Promise<void>((done) => {
    resolve = done;
  });
  const gated: Queue = {
    ...queue,
    lease: async (want, options) => (isOpen ? queue.lease(want, options) : []),
    async finish(job, options) {
      const isOurs = await queue.finish(job, options);
      resolve();
      return isOurs;
    },
  };
  const open = (): void => {
    isOpen = true;
  };
  return { queue: gated, open, finished };
}

type Models = ReturnType<Parameters<typeof core.createServices>[0]['models'][number]['models']>;

const models: Models = [
  {
    id: 'walk-1',
    name: 'Walk 1',
    type: 'text',
    provider: 'walk',
    contextWindow: 128_000,
    maxOutputTokens: 4096,
    supportsStreaming: true,
    prices: { input: 1, output: 5 },
  },
];

async function* stream() {
  yield { type: 'text' as const, text: 'Hello.' };
  yield { type: 'usage' as const, usage: { input: 10, output: 2 } };
  yield { type: 'finish' as const, reason: 'stop' as const };
}

const provider = { id: 'walk', models: () => models, generate: async () => stream() };

async function runTurn(): Promise<void> {
  const ports = memory.createMemoryPorts();
  const gated = createGatedQueue(ports.queue);
  const services = core.createServices(
    { ...ports, queue: gated.queue, models: [provider] },
    {
      jwtSecret: 'a'.repeat(64),
      worker: { pollMs: 10 },
      observers: [{ job: (_job, work) => traced.run(true, work) }],
    },
  );
  const api = core.createApi(services);
  const user = await core.createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('the email address already has an account');
  const account = `user:${user.id}`;
  await ports.ledger.grant({ account, amount: core.fromCredits(100), key: 'start', reason: 'start' });
  const token = await services.tokens.sign({
    id: user.id,
    tokenVersion: user.tokenVersion,
    typ: 'access',
  });
  await api.start();
  const response = await core.toFetchHandler(api)(
    new Request('http://localhost/api/chat', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({ message: 'Hi', newConversation: true, model: 'walk-1' }),
    }),
  );
  if (response?.status !== 202 && response?.status !== 200) {
    throw new Error(`the message was not accepted: ${response?.status} ${await response?.text()}`);
  }
  gated.open();
  await gated.finished;
  await api.close();
}

const getFolder = (file: string): string => {
  const [first = '', second = '', ...rest] = file.split('/');
  if (second === '') return '.';
  return first === 'features' && rest.length > 0 ? `${first}/${second}` : first;
};

/** Counts how often the next entry is in a folder that was left before. */
function countReturns(folders: readonly string[]): number {
  const left = new Set<string>();
  let returns = 0;
  let current: string | undefined;
  for (const folder of folders) {
    if (folder === current) continue;
    if (left.has(folder)) returns += 1;
    if (current !== undefined) left.add(current);
    current = folder;
  }
  return returns;
}

await runTurn();
const files = [...new Set([...entered].map((name) => name.slice(0, name.indexOf('#'))))].filter(
  (file) => !file.startsWith('memory/'),
);
const visits = files.map(getFolder);
const folders = [...new Set(visits)];
const returns = countReturns(visits);
if (process.argv.includes('--json')) console.log(JSON.stringify({ folders, files, returns }));
else {
  console.log((process.argv.includes('--functions') ? [...entered] : files).join('\n'));
  console.log(`${folders.length} folders, ${files.length} files, ${returns} returns`);
}
