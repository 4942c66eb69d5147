/**
 * A provider with minimal cost in a separate process: speaks the chat completions protocol with prepared
 * events. The first path segment names the script, e.g. `/burst8/v1/chat/completions`.
 */
import { createServer, type ServerResponse } from 'node:http';
import { serve } from './child.ts';

const event = (choice: object, more: object = {}): Buffer =>
  Buffer.from(
    `data: ${JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_790_000_000,
      model: 'bench',
      choices: [{ index: 0, finish_reason: null, ...choice }],
      ...more,
    })}\n\n`,
  );

const word = event({ delta: { content: ' word' } });
const opening = event({ delta: { role: 'assistant', content: '' } });
const ending = Buffer.concat([
  event({ delta: {}, finish_reason: 'stop' }),
  Buffer.from(
    `data: ${JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_790_000_000,
      model: 'bench',
      choices: [],
      usage: { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 },
    })}\n\ndata: [DONE]\n\n`,
  ),
]);

const burst = (words: number): Buffer => Buffer.concat([opening, ...Array<Buffer>(words).fill(word), ending]);
const bursts: Readonly<Record<string, Buffer>> = { burst8: burst(8), burst200: burst(200) };

function pace(response: ServerResponse, chunks: number, everyMs: number): void {
  let sent = 0;
  response.write(opening);
  const timer = setInterval(() => {
    sent += 1;
    if (sent <= chunks) response.write(word);
    else {
      clearInterval(timer);
      response.end(ending);
    }
  }, everyMs);
  response.once('close', () => clearInterval(timer));
}

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const script = request.url?.split('/')[1] ?? '';
    const whole = bursts[script];
    if (whole !== undefined) response.end(whole);
    else if (script === 'paced') pace(response, 100, 20);
    else pace(response, 1000, 1000);
  });
});
server.keepAliveTimeout = 60_000;
serve(server);
