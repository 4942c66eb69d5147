import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Mountable, toNodeListener } from '@questline/core';
import { onTestFinished } from 'vitest';
import type { ModelCall } from './model.ts';

/** Serves an api on a local port until the test ends. @returns the address with the mount path. */
export async function serveWire(api: Mountable, mountPath: string): Promise<string> {
  const server = createServer(toNodeListener(api, undefined, { mountPath }));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${mountPath}`;
}

/** Calls two tools in the first round, and answers when their results have arrived. */
export function useTools(call: ModelCall): void {
  const hasResult = call.request.messages.some(({ content }) =>
    content.some(({ type }) => type === 'tool_result'),
  );
  if (hasResult) {
    call.say({ type: 'text', text: 'Rain, at noon.' }, { type: 'usage', usage: { input: 30, output: 4 } });
    call.say({ type: 'finish', reason: 'stop' });
  } else {
    call.say({ type: 'tool_use_delta', index: 0, id: 't1', name: 'weather', arguments: '{"city":' });
    call.say({ type: 'tool_use_delta', index: 0, arguments: '"Oslo"}' });
    call.say({ type: 'tool_use', id: 't1', name: 'weather', arguments: '{"city":"Oslo"}' });
    call.say({ type: 'tool_use', id: 't2', name: 'time', arguments: '{}' });
    call.say({ type: 'usage', usage: { input: 20, output: 9 } }, { type: 'finish', reason: 'tool_use' });
  }
  call.end();
}

/** Reports every class of usage, which the ledger counts separately. */
export function reason(call: ModelCall): void {
  call.say({ type: 'thinking_delta', text: 'hm' });
  call.say({ type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } });
  call.say({ type: 'text', text: 'Rain.' });
  call.say({
    type: 'usage',
    usage: { input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 },
  });
  call.say({ type: 'finish', reason: 'stop' });
  call.end();
}

export async function collect<T>(source: AsyncIterable<T> | ReadableStream<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}
