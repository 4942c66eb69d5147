import { createServer, type Server, type Socket } from 'node:net';
import type { ModelProvider } from '@questline/core/ports';
import type { ProviderOptions } from '@questline/providers';
import { createOpenAIProvider, type OpenAIProviderOptions } from '@questline/providers/openai';
import {
  createOpenAIUpstream,
  type ScriptSource,
  type Upstream,
  type UpstreamOptions,
} from '@questline/testing/upstreams';
import { onTestFinished } from 'vitest';

/** Runs after the test, in reverse order. */
export function later(close: () => Promise<unknown>): void {
  onTestFinished(async () => {
    await close();
  });
}

export const never = new Promise<never>(() => {});

/** An upstream and a provider that calls it. */
export async function connect<Options extends ProviderOptions>(
  createUpstream: (options: UpstreamOptions) => Promise<Upstream>,
  createProvider: (options: Options) => ModelProvider,
  script: ScriptSource,
  options: Options,
): Promise<{ upstream: Upstream; provider: ModelProvider }> {
  const upstream = await createUpstream({ script });
  later(() => upstream.close());
  const provider = createProvider({ apiKey: 'sk-platform-secret', baseUrl: upstream.baseUrl, ...options });
  later(async () => provider.close?.());
  return { upstream, provider };
}

/** These tests apply to any protocol: chat completions have the shortest events. */
export function openAI(
  script: ScriptSource = {},
  options: OpenAIProviderOptions = {},
): Promise<{ upstream: Upstream; provider: ModelProvider }> {
  const chat: OpenAIProviderOptions = { protocol: 'chat', ...options };
  return connect(createOpenAIUpstream, createOpenAIProvider, script, chat);
}

export function openAIAt(baseUrl: string, options: OpenAIProviderOptions = {}): ModelProvider {
  const provider = createOpenAIProvider({
    apiKey: 'sk-platform-secret',
    baseUrl,
    protocol: 'chat',
    ...options,
  });
  later(async () => provider.close?.());
  return provider;
}

/** A server whose connections are answered by the test. @returns its host and port. */
export async function rawServer(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
}
