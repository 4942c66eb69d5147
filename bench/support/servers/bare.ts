import { createServer } from 'node:http';
import { serve } from '../child.ts';
import { getText, relay } from './bare-stream.ts';

serve(
  createServer(async (request, response) => {
    await relay(await getText(request), response);
  }),
);
