import type { IncomingMessage, ServerResponse } from 'node:http';
import { createParser } from 'eventsource-parser';
import { Pool } from 'undici';

const upstream = new URL(process.env.UPSTREAM ?? '');
const pool = new Pool(upstream.origin, { connections: 10_000 });

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[];
}

/**
 * The minimum that re-encodes a stream: parses and writes every upstream event, without keys, limits or
 * credits. @param settle runs before the last event.
 */
export async function relay(
  body: string,
  response: ServerResponse,
  settle?: () => Promise<void>,
): Promise<void> {
  const { model, messages, options } = JSON.parse(body);
  const answer = await pool.request({
    path: `${upstream.pathname}/chat/completions`,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer upstream' },
    body: JSON.stringify({ model, messages, max_tokens: options.maxTokens, stream: true }),
  });
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache, no-transform' });
  const parser = createParser({
    onEvent({ data }) {
      if (data === '[DONE]') {
        if (settle === undefined) response.end('data: [DONE]\n\n');
        else void settle().then(() => response.end('data: [DONE]\n\n'));
        return;
      }
      const text = (JSON.parse(data) as Chunk).choices[0]?.delta.content;
      if (text) response.write(`data: ${JSON.stringify({ type: 'content', text })}\n\n`);
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of answer.body) parser.feed(decoder.decode(chunk as Buffer, { stream: true }));
}

export async function getText(request: IncomingMessage): Promise<string> {
  let text = '';
  request.setEncoding('utf8');
  for await (const chunk of request) text += chunk;
  return text;
}
