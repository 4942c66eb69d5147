import type { ApiRequest, Services } from '@questline/core';
import { MCP_TASKS } from '@questline/core/internal';
import { createMcpApi, type McpApiOptions } from '@questline/mcp-server';
import { onTestFinished } from 'vitest';
import { type RpcAnswer, SCOPES } from '../../../test/mcp-server/support.ts';
import { createChatApp } from '../../../test/support/chat.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RpcAnswer;
}

/** A server in this process, without a port. */
export async function createServer(
  options: McpApiOptions = {},
  {
    change,
    ...more
  }: Parameters<typeof createChatApp>[0] & { change?: (services: Services) => Services } = {},
) {
  const app = await createChatApp({ ...more, key: { scopes: SCOPES, requestsPerMinute: 50 } });
  onTestFinished(() => app.api.close());
  const api = createMcpApi(change?.(app.services) ?? app.services, options);
  const toRequest = (
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
    changed: Partial<ApiRequest> = {},
  ): ApiRequest => {
    const bytes = Buffer.from(JSON.stringify(body) ?? '');
    return {
      method: 'POST',
      path: '/',
      mountPath: '',
      query: '',
      headers: { authorization: `Bearer ${app.key}`, 'content-type': 'application/json', ...headers },
      body: {
        bytes: async () => bytes,
        async *stream() {
          yield bytes;
        },
      },
      signal: new AbortController().signal,
      remoteAddress: '127.0.0.1',
      protocol: 'http',
      ...changed,
    };
  };
  const send = async (...request: Parameters<typeof toRequest>): Promise<Answered> => {
    const answer = await api.handle(toRequest(...request));
    if (answer === undefined) throw new Error('the server leaves the path to the host');
    const text = typeof answer.body === 'string' ? answer.body : '';
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  return { app, send, toRequest };
}

/** Services whose records of tasks cannot be read. */
export function withoutTasks(failure: Error) {
  return (services: Services): Services => {
    const { store } = services;
    const collection: typeof store.collection = (named) => {
      const made = store.collection(named);
      const fail = () => Promise.reject(failure);
      return named.name === MCP_TASKS.name ? { ...made, find: fail, get: fail } : made;
    };
    return { ...services, store: { ...store, collection } };
  };
}
