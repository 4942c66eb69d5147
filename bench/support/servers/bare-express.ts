import { createServer } from 'node:http';
import express from 'express';
import { serve } from '../child.ts';
import { getText, relay } from './bare-stream.ts';

const app = express();
app.post('/api/ai/v1/completions', async (request, response) => {
  await relay(await getText(request), response);
});
serve(createServer(app));
