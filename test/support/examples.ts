import type { Operation } from '@questline/core';
import { CASES } from '../wire/cases/index.ts';
import { askedIn, toTestAppOptions } from './cases.ts';
import { getEvents } from './events.ts';
import { type Answer, type Asked, createWire } from './wire.ts';

/** A recorded request and its answer. */
export interface Example {
  readonly request?: {
    readonly params?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response: { readonly status: number; readonly body?: unknown };
}

/** Longer answers are not used. */
const MAX_LENGTH = 6000;

/** Runs the successful cases of an operation and returns the most informative one. */
export async function recordExample(operation: Operation): Promise<Example | undefined> {
  const [status] = Object.keys(operation.output).map(Number);
  const recorded: Example[] = [];
  for (const one of CASES[operation.id] ?? []) {
    if (one.status !== status) continue;
    const wire = await createWire(await toTestAppOptions(operation, one));
    const asked = getPlainRequest(operation, await askedIn(operation, one, wire.app));
    const answer = asked && (await wire.send(asked));
    await wire.app.api.close();
    if (answer?.status === status) recorded.push(toExample(operation, asked as Asked, answer));
  }
  const readable = recorded.filter((example) => JSON.stringify(example).length <= MAX_LENGTH);
  return (readable.length > 0 ? readable : recorded).sort((a, b) => getRank(b) - getRank(a))[0];
}

/**
 * A request without test-only parts: unknown fields, blanks around values. Undefined if the request uses
 * another path of the operation.
 */
function getPlainRequest({ path: template, input }: Operation, asked: Asked): Asked | undefined {
  const [path = '', search = ''] = asked.path.split('?', 2);
  const pattern = template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
  if (!new RegExp(`^${pattern}$`).test(path)) return undefined;
  const query = [...new URLSearchParams(search)].filter(
    ([name]) => input.query === undefined || Object.hasOwn(input.query.shape, name),
  );
  const { body } = asked;
  const plain = input.body === undefined ? body : toPlain(body, input.body);
  const suffix = query.length === 0 ? '' : `?${new URLSearchParams(query)}`;
  return { ...asked, path: `${path}${suffix}`, ...(plain !== undefined && { body: plain }) };
}

function toPlain(value: unknown, schema: unknown): unknown {
  const { def, shape } = schema as {
    def?: { innerType?: unknown; in?: unknown };
    shape?: Record<string, unknown>;
  };
  const inner = def?.innerType ?? def?.in;
  if (inner !== undefined) return toPlain(value, inner);
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return [...new Set(value)];
  if (!isObject(value) || shape === undefined) return value;
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(shape, name));
  return Object.fromEntries(known.map(([name, part]) => [name, toPlain(part, shape[name])]));
}

/**
 * Prefers JSON to bytes and filled lists to empty ones; among equals, the first case, which is the most
 * common one.
 */
function getRank({ response: { body } }: Example): number {
  if (body === undefined) return 0;
  const text = JSON.stringify(body);
  return text.includes('[{') || text.includes('"content"') ? 2 : 1;
}

function toExample(operation: Operation, { path, body }: Asked, answer: Answer): Example {
  const [bare = '', search = ''] = path.split('?', 2);
  const params = getParams(operation.path, bare);
  const query = Object.fromEntries(new URLSearchParams(search));
  const request = {
    ...(Object.keys(params).length > 0 && { params }),
    ...(Object.keys(query).length > 0 && operation.input.query !== undefined && { query }),
    ...(operation.input.body !== undefined && isJson(body) && { body: body ?? {} }),
  };
  const type = answer.headers['content-type'];
  const isText = type?.startsWith('text/') === true || isObject(answer.body);
  return {
    ...(Object.keys(request).length > 0 && { request }),
    response: {
      status: answer.status,
      ...(answer.text !== '' &&
        isText && { body: type === 'text/event-stream' ? getEvents(answer.text) : answer.body }),
    },
  };
}

function isJson(body: unknown): boolean {
  return body === undefined || isObject(body);
}

function isObject(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !(body instanceof Uint8Array);
}

function getParams(template: string, path: string): Record<string, string> {
  const values = path.split('/');
  return Object.fromEntries(
    template
      .split('/')
      .map((part, index) => [/^\{(\w+)\}$/.exec(part)?.[1] ?? '', values[index] ?? ''] as const)
      .filter(([name]) => name !== ''),
  );
}
