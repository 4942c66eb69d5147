import { getConnInfo } from '@hono/node-server/conninfo';
import { toFetchHandler } from '@questline/core';
import { createNotes, problem } from '@questline/example-notes';
import { createWorkspace } from '@questline/example-notes/workspace';
import { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** A small application with sign-in, notes and an error handler. The lines of Questline are marked. */
export function build(jwtSecret: string): Hono {
  const notes = createNotes();
  const workspace = createWorkspace(jwtSecret); // Questline
  const questline = toFetchHandler(workspace.api); // Questline
  const app = new Hono();

  app.post('/login', async (context) => {
    context.header('Set-Cookie', notes.signIn(await context.req.json()));
    return context.body(null, 204);
  });
  app.get('/notes', (context) => context.json(notes.list(notes.whoIs(context.req.header('Cookie')))));
  app.post('/notes', async (context) => {
    const person = notes.whoIs(context.req.header('Cookie'));
    return context.json(notes.add(person, await context.req.json()), 201);
  });
  // Questline: users who are signed in here may use the API.
  app.get('/token', async (context) =>
    context.json({ token: await workspace.tokenFor(notes.whoIs(context.req.header('Cookie'))) }),
  );
  // Questline: mounted after the routes above, which stay unchanged.
  app.use(async (context, next) => {
    const remoteAddress = getConnInfo(context).remote.address;
    return (await questline(context.req.raw, { remoteAddress })) ?? next();
  });

  app.notFound((context) => context.json({ problem: 'No such page' }, 404));
  app.onError((error, context) => {
    const { status, body } = problem(error);
    return context.json(body, status as ContentfulStatusCode);
  });
  return app;
}
