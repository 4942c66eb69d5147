import { createClient, type EventStream } from '@questline/client';
import * as operations from '@questline/client/operations';
import { type Operation, toFetchHandler } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { askedIn, toTestAppOptions } from '../../../test/support/cases.ts';
import { getEvents } from '../../../test/support/events.ts';
import { createTestApp } from '../../../test/support/test-app.ts';
import { type Asked, createWire, toAnswer } from '../../../test/support/wire.ts';
import type { WireCase } from '../../../test/wire/cases/case.ts';
import { CASES } from '../../../test/wire/cases/index.ts';

const ORIGIN = 'http://questline.test';
const { api } = await createTestApp();
const OPERATIONS = api.routes.map(({ operation }) => operation);
await api.close();

const SIGNED = ['getObject', 'putObject', 'postObject'];

/** The input of the client for a recorded request; undefined if it uses another path, or a body that is no JSON. */
async function toInput(operation: Operation, asked: Asked): Promise<object | undefined> {
  const { path: template, id, bodyType } = operation;
  const [path = '', search = ''] = asked.path.split('?', 2);
  if (SIGNED.includes(id)) return { link: asked.path, body: asked.body };
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const found = new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/]+)')}$`).exec(
    path,
  );
  if (found === null || (typeof asked.body === 'string' && asked.body !== '' && bodyType !== 'multipart'))
    return undefined;
  const params = Object.fromEntries(
    names.map((name, index) => [name, decodeURIComponent(found[index + 1] ?? '')]),
  );
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(search)) query[name] = [...(query[name] ?? []), value];
  if (bodyType !== 'multipart') return { params, query, body: asked.body };
  const form = await new Response(asked.body as Uint8Array<ArrayBuffer>, {
    headers: asked.headers ?? {},
  }).formData();
  return { body: Object.fromEntries(form) };
}

/** Headers that the client sets by itself. */
function getOwnHeaders(operation: Operation, { headers = {} }: Asked): Record<string, string> {
  const isSigned = SIGNED.includes(operation.id);
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => isSigned || name.toLowerCase() !== 'content-type'),
  );
}

async function callAs(operation: Operation, one: WireCase): Promise<string | undefined> {
  const wire = await createWire(await toTestAppOptions(operation, one));
  const asked = await askedIn(operation, one, wire.app);
  const input = await toInput(operation, asked);
  const handle = toFetchHandler(wire.app.api);
  let answered: Awaited<ReturnType<typeof toAnswer>> | undefined;
  const client = createClient({
    baseUrl: ORIGIN,
    operations,
    fetch: async (url, init) => {
      const response = (await handle(new Request(url, init))) ?? new Response('not ours', { status: 599 });
      answered = await toAnswer(response.clone());
      wire.description.check(operation.method, url.slice(ORIGIN.length), answered);
      return response;
    },
  });
  const call = client[operation.id as 'getMe'] as unknown as (
    input?: object,
    options?: object,
  ) => Promise<unknown>;
  try {
    if (input === undefined) return undefined;
    const data = await call(input, { headers: getOwnHeaders(operation, asked), retries: 0 });
    const expected = typeof one.body === 'function' ? one.body(wire.app) : one.body;
    if (answered?.headers['content-type']?.startsWith('text/event-stream') === true) {
      const frames: unknown[] = [];
      for await (const frame of data as EventStream<unknown>) frames.push(frame);
      expect(frames).toEqual(getEvents(answered.text).filter((event) => event !== '[DONE]'));
    } else if (data instanceof Response) {
      expect([data.status, await data.text()]).toEqual([one.status, answered?.text]);
    } else {
      expect(data).toEqual(expected === '' ? undefined : expected);
    }
    return one.title;
  } finally {
    await wire.app.api.close();
  }
}

describe('a client', () => {
  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    'calls %s',
    async (id, operation) => {
      const [status] = Object.keys(operation.output).map(Number);
      for (const one of CASES[id] ?? []) {
        if (one.status !== status) continue;
        if ((await callAs(operation, one)) !== undefined) return;
      }
      throw new Error(`${id} has no case that a client can send`);
    },
  );
});
