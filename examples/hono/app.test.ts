import { getRequestListener } from '@hono/node-server';
import { exampleSuite } from '@questline/example-notes/suite';
import { build } from './app.ts';

exampleSuite('Hono', async (jwtSecret) =>
  getRequestListener(build(jwtSecret).fetch, { overrideGlobalObjects: false }),
);
