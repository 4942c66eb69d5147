import { createServer } from 'node:http';
import { serve } from '../child.ts';
import { acknowledgement, finishedQuest } from './chat-answers.ts';

/** Returns responses of the chat's size, without any work. */
serve(
  createServer((request, response) => {
    const answer = (value: unknown): void => {
      const text = JSON.stringify(value);
      response.writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': String(Buffer.byteLength(text)),
      });
      response.end(text);
    };
    if (request.method === 'GET') return answer(finishedQuest);
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      JSON.parse(body);
      answer(acknowledgement);
    });
  }),
);
