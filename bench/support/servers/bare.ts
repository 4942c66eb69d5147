import { createServer } from 'node:http';
import { serve } from '../child.ts';
import { relay, textOf } from './bare-stream.ts';

serve(
  createServer(async (request, response) => {
    await relay(await textOf(request), response);
  }),
);
