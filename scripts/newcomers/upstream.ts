import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export const UPSTREAM_MODEL = 'newcomer-model';

const PAUSE_MS = 50;

export interface Upstream {
  readonly url: string;
  close(): void;
}

/** A provider of the chat completions protocol that repeats the last message, word by word. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { messages = [] } = text === '' ? {} : JSON.parse(text);
    const { content = '' } = messages.at(-1) ?? {};
    const words = (typeof content === 'string' ? content : content[0].text).split(/(?<= )/);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (more: object) => {
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: UPSTREAM_MODEL, ...more };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    for (const word of words) {
      send({ choices: [{ index: 0, delta: { content: word } }] });
      // Chunks that arrive together are forwarded as one.
      await pause(PAUSE_MS);
    }
    send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
    send({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } });
    response.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () => server.close(),
  };
}
