import { createServer } from 'node:http';
import express from 'express';
import { serve } from '../child.ts';
import { acknowledgement, finishedQuest } from './chat-answers.ts';

/** The same requests against a Map: accept, complete a moment later, report the status. */
const quests = new Map<string, object>();
let count = 0;

const app = express().disable('x-powered-by').set('etag', false);
app.post('/api/chat', express.json(), (_request, response) => {
  count += 1;
  const id = count.toString(16).padStart(24, '0');
  quests.set(id, { ...finishedQuest, id, status: 'pending' });
  setImmediate(() => quests.set(id, { ...finishedQuest, id }));
  response.json({ ...acknowledgement, id });
});
app.get('/api/v1/quests/:id', (request, response) => {
  response.json(quests.get(request.params.id));
});

serve(createServer(app));
