import { deepEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ApiRequest, type Mountable, toNodeListener } from '@questline/core';
import { Connection } from '../connection.ts';
import type { AdapterCase, Answer, Question } from '../host.ts';
import { events, json, scripted, text } from '../scripted.ts';

const stream = async function* () {
  yield 'data: {"text":"na\u00efve"}\n\n';
  yield Buffer.from('data: [DONE]\n\n');
};

const api: Mountable = scripted({
  '/api/json': () => json({ text: 'na\u00efve \u2713', list: [1, null] }),
  '/api/plain': () => ({ ...text('plain'), headers: { 'content-type': 'text/plain' } }),
  '/api/bytes': () => ({
    status: 200,
    headers: { 'Content-Type': 'audio/mpeg', 'Content-Disposition': 'attachment; filename="a.mp3"' },
    body: Uint8Array.from([0, 127, 128, 255]),
  }),
  '/api/stream': () => events(stream()),
  '/api/created': () => ({
    ...json({ id: '1' }, 201),
    headers: { Location: '/api/1', 'Content-Type': 'application/json' },
  }),
  '/api/empty': () => ({ status: 202, headers: { 'Cache-Control': 'private, no-store' }, body: undefined }),
  '/api/gone': () => ({ status: 204, headers: { 'X-Request-ID': 'abc' }, body: undefined }),
  '/api/same': () => ({ status: 304, headers: { ETag: '"v1"' }, body: undefined }),
  '/api/refused': () => ({
    ...json({ error: 'no' }, 405),
    headers: { Allow: 'GET, HEAD', 'Content-Type': 'application/json' },
  }),
  '/api/fails': () => {
    throw new Error('secret');
  },
  '/api/echo': async ({ method, path, query, mountPath, headers, body }: ApiRequest) =>
    json({
      ...{ method, path, query, mountPath, type: headers['content-type'] ?? null },
      body: Buffer.from(await body.bytes(1000)).toString('base64'),
    }),
});

const QUESTIONS: readonly Question[] = [
  { path: '/api/json' },
  { path: '/api/plain' },
  { path: '/api/bytes' },
  { path: '/api/stream' },
  { path: '/api/created', method: 'POST' },
  { path: '/api/empty', method: 'POST' },
  { path: '/api/gone', method: 'DELETE' },
  { path: '/api/same' },
  { path: '/api/refused', method: 'PUT' },
  { path: '/api/fails' },
  { path: '/api/json', method: 'HEAD' },
  { path: '/api/stream', method: 'HEAD' },
  { path: '/api/empty', method: 'HEAD' },
  { path: '/api/echo?a=%C3%A9&a=+', method: 'POST', headers: { 'Content-Type': 'text/x' }, body: '\u00e9' },
  { path: '/api/echo', method: 'PUT' },
];

/** Headers of the connection, not of the response. */
const OF_THE_CONNECTION = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

function essence({ status, headers, body }: Answer) {
  const kept = Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name));
  return { status, headers: Object.fromEntries(kept.sort()), body: body.toString('latin1') };
}

async function askReference(port: number, question: Question): Promise<Answer> {
  const connection = await Connection.open(port);
  connection.send(question);
  const answer = await connection.answer(question.method);
  connection.leave();
  return answer;
}

/** Every adapter sends the same bytes as `node:http`. */
export const goldenCases: readonly AdapterCase[] = QUESTIONS.map((question) => ({
  name: `answers like node:http: ${question.method ?? 'GET'} ${question.path}`,
  async run(stage) {
    const reference = createServer(toNodeListener(api)).listen(0, '127.0.0.1');
    await once(reference, 'listening');
    try {
      const host = await stage.start({ api });
      const expected = await askReference((reference.address() as AddressInfo).port, question);
      deepEqual(essence(await host.ask(question)), essence(expected));
    } finally {
      reference.close();
    }
  },
}));
