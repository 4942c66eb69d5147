import { randomUUID } from 'node:crypto';
import {
  answered,
  createApi,
  createDemoProvider,
  createServices,
  createToolbox,
  defineTool,
} from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import type { Identity } from '@questline/core/ports';
import { createDemoMedia } from '@questline/demo-media';
import { toExpress } from '@questline/express';
import express, { type Express } from 'express';
import { z } from 'zod';

const weather = defineTool({
  id: 'weather',
  description: 'Returns the weather in a city.',
  input: z.object({ city: z.string() }),
  offered: 'default',
  run: async ({ city }) => answered(`It is sunny in ${city}.`),
});

/** An application with its own sign-in. @param pages the folder of the built pages. */
export function build(jwtSecret: string, pages: string): Express {
  const sessions = new Map<string, string>();
  const ports = createMemoryPorts();
  const { clock } = ports;
  const models = [createDemoProvider({ clock, media: createDemoMedia({ clock }) })];
  const identity: Identity = {
    async identify({ headers }) {
      const name = sessions.get(String(headers.cookie));
      return name === undefined ? undefined : { externalId: name, name };
    },
    credential: ({ headers }) => headers.cookie?.toString(),
  };
  const admin = { enforceCredits: true, defaultFreeCredits: 100 };
  const settings = { jwtSecret, admin, tools: [createToolbox([weather])], generations: { pollMs: 500 } };
  const services = createServices({ ...ports, models, identity }, settings);
  const app = express();
  app.post('/login', express.urlencoded(), (request, response) => {
    const cookie = `sid=${randomUUID()}`;
    sessions.set(cookie, String(request.body.name));
    response.setHeader('Set-Cookie', `${cookie}; HttpOnly; SameSite=Lax; Path=/`).sendStatus(204);
  });
  return app.use(toExpress(createApi(services)), express.static(pages));
}
