import { exampleSuite } from '@questline/example-notes/suite';
import { build } from './app.ts';

exampleSuite('Fastify', async (jwtSecret) => {
  const app = build(jwtSecret);
  await app.ready();
  return app.routing;
});
