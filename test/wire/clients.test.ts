import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import { toFetchHandler } from '@questline/core';
import { build } from 'esbuild';
import type { OpenAPI3 } from 'openapi-typescript';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';

const run = promisify(execFile);
const { resolve } = createRequire(import.meta.url);
const modules = join(import.meta.dirname, '../../node_modules');
const DOCUMENTS = { public: '/api/v1/openapi.json', application: '/api/openapi.json' } as const;

/** Uses both generated clients like an application: signs in, chats, streams, reads the conversation. */
const JOURNEY = `
import { createClient, createConfig } from './application/client/index.ts';
import * as application from './application/index.ts';
import type { CreateCompletionResponse } from './public/index.ts';
import { createClient as createPublicClient, createConfig as createPublicConfig } from './public/client/index.ts';
import * as api from './public/index.ts';

export async function journey(send: typeof fetch, email: string, readCode: () => string) {
  const baseUrl = 'http://questline.test';
  const client = createClient(createConfig({ baseUrl, fetch: send, throwOnError: true }));
  const { data: sent } = await application.sendSignInCode({ client, body: { email }, throwOnError: true });
  const { data: answer } = await application.verifySignInCode({
    client,
    body: { email, code: readCode(), pendingToken: sent.pendingToken },
    throwOnError: true,
  });
  if (!('accessToken' in answer)) throw new Error('the account is known');
  const { accessToken } = answer;
  // The public API lists API keys, too: an access token is for the schemes of type http alone.
  const auth = ({ type }: { type: string }) => (type === 'http' ? accessToken : undefined);

  const main = createPublicClient(createPublicConfig({ baseUrl, fetch: send, auth }));
  const { data: turn } = await api.sendChatMessage({
    client: main,
    body: { message: 'Hello', newConversation: true, wait: true },
    throwOnError: true,
  });
  const reply: string | null = 'response' in turn ? turn.response : null;

  const { stream } = await api.createCompletion({
    client: main,
    body: { model: 'scripted', messages: [{ role: 'user', content: 'Hello' }] },
  });
  let text = '';
  let credits = 0;
  let isDone = false;
  for await (const event of stream) {
    // The type narrows by the text that ends the stream, and then by the type of the event.
    if (event === '[DONE]') isDone = true;
    else if (event.type === 'content') {
      text += event.text;
      credits += event.credits?.used ?? 0;
    } else if (event.type === 'tool_use') event.tools.map((call) => call.arguments.trim());
    else if (event.type === 'error') throw new Error(event.message);
    else if (event.type === 'meta') event.requestId.trim();
    else if (event.type === 'reasoning') event.text.trim();
    else event.arguments.trim();
  }

  const own = createClient(createConfig({ baseUrl, fetch: send, auth }));
  const { data: history } = await application.listMessages({
    client: own,
    path: { id: turn.sessionId },
    throwOnError: true,
  });
  return { reply, text, credits, isDone, history: history.messages.map(({ role, content }) => [role, content]) };
}

// @ts-expect-error A message has a role.
export const wrong: api.CreateCompletionRequest = { model: 'm', messages: [{ content: 'Hi' }] };
// @ts-expect-error An event has one of the types.
export const unknown: CreateCompletionResponse = { type: 'other' };
`;

/** Uses the types of the other generator with its own client. */
const TYPES = `
import createClient from 'openapi-fetch';
import type { components, paths } from './public.ts';
import type { paths as applicationPaths } from './application.ts';

const api = createClient<paths>({ baseUrl: 'http://x' });
const application = createClient<applicationPaths>({ baseUrl: 'http://x' });

export async function use(): Promise<void> {
  const { data } = await api.GET('/api/v1/me');
  data?.credits.balance.toFixed();
  const { data: history } = await application.GET('/api/sessions/{id}/messages', {
    params: { path: { id: 'x' }, query: { limit: 10 } },
  });
  history?.messages.map(({ content }) => content.trim());
  // @ts-expect-error There is no such operation.
  await api.GET('/api/v1/nothing');
}

export function show(event: components['schemas']['createCompletionResponse200']): string {
  if (event === '[DONE]') return '';
  switch (event.type) {
    case 'content':
      return event.text;
    case 'tool_use':
      return event.tools.map(({ name }) => name).join();
    case 'error':
      return event.message;
    case 'meta':
      return event.requestId;
    case 'reasoning':
      return event.text;
    case 'tool_use_delta':
      return event.arguments;
  }
}
`;

let folder: string;
const app = await createChatApp({ onCall: sayHello });
const handle = toFetchHandler(app.api);

function sayHello(
  call: Parameters<NonNullable<Parameters<typeof createChatApp>[0]>['onCall'] & object>[0],
): void {
  call.say({ type: 'text', text: 'Hello ' }, { type: 'text', text: 'there.' });
  call.say({ type: 'usage', usage: { input: 4, output: 2 } }, { type: 'finish', reason: 'stop' });
  call.end();
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'questline-clients-'));
  for (const [name, path] of Object.entries(DOCUMENTS)) {
    const document = (await (await app.ask('GET', path)).json()) as OpenAPI3;
    const input = join(folder, `${name}.json`);
    await writeFile(input, JSON.stringify(document));
    await createClient({
      input,
      output: { path: join(folder, 'hey-api', name), importFileExtension: '.ts' },
      logs: { level: 'silent' },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    });
    await mkdir(join(folder, 'openapi-typescript'), { recursive: true });
    const types = astToString(await openapiTypescript(document));
    await writeFile(join(folder, 'openapi-typescript', `${name}.ts`), types);
  }
  await writeFile(join(folder, 'hey-api/journey.ts'), JOURNEY);
  await writeFile(join(folder, 'openapi-typescript/use.ts'), TYPES);
}, 120_000);

afterAll(async () => {
  await app.api.close();
  await rm(folder, { recursive: true, force: true });
});

/** The compiler errors of a folder in strict mode. */
async function compile(name: string): Promise<string> {
  const path = join(folder, name);
  const compilerOptions = {
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
    paths: { 'openapi-fetch': [join(dirname(resolve('openapi-fetch')), 'index.d.mts')] },
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  };
  await writeFile(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
  const compiler = join(modules, 'typescript7/bin/tsc');
  const { stdout } = await run(process.execPath, [compiler, '-p', path]).catch(
    (failure: { stdout: string }) => failure,
  );
  return stdout;
}

describe('generated clients', () => {
  it('of @hey-api/openapi-ts compile in strict mode', { timeout: 60_000 }, async () => {
    expect(await compile('hey-api')).toBe('');
  });

  it('of openapi-typescript compile in strict mode', { timeout: 60_000 }, async () => {
    expect(await compile('openapi-typescript')).toBe('');
  });

  it('sign in, chat, stream typed events and read the conversation', { timeout: 60_000 }, async () => {
    const outfile = join(folder, 'journey.mjs');
    const entryPoints = [join(folder, 'hey-api/journey.ts')];
    await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'silent' });
    const { journey } = (await import(pathToFileURL(outfile).href)) as {
      journey: (send: typeof fetch, email: string, readCode: () => string) => Promise<unknown>;
    };
    const send: typeof fetch = async (input, init) =>
      (await handle(new Request(input, init))) ?? new Response('not found', { status: 404 });
    const readCode = (): string => /\b\d{6}\b/.exec(app.mails.at(-1)?.text ?? '')?.[0] ?? '';
    expect(await journey(send, app.user.email, readCode)).toEqual({
      reply: 'Hello there.',
      text: 'Hello there.',
      credits: 0.06,
      isDone: true,
      history: [
        ['assistant', 'Hello there.'],
        ['user', 'Hello'],
      ],
    });
  });
});
