import Router from '@koa/router';
import { createNotes, problem } from '@questline/example-notes';
import { createWorkspace } from '@questline/example-notes/workspace';
import { toKoa } from '@questline/koa';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';

/** A small application with sign-in, notes and an error handler. The three lines of Questline are marked. */
export function build(jwtSecret: string): Koa {
  const notes = createNotes();
  const workspace = createWorkspace(jwtSecret); // Questline
  const app = new Koa();
  app.use(async (context, next) => {
    try {
      await next();
    } catch (error) {
      const { status, body } = problem(error);
      context.status = status;
      context.body = body;
    }
  });

  const json = bodyParser();
  const router = new Router();
  router.post('/login', json, (context) => {
    context.set('Set-Cookie', notes.signIn(context.request.body));
    context.status = 204;
  });
  router.get('/notes', (context) => {
    context.body = notes.list(notes.whoIs(context.headers.cookie));
  });
  router.post('/notes', json, (context) => {
    context.body = notes.add(notes.whoIs(context.headers.cookie), context.request.body);
    context.status = 201;
  });
  // Questline: users who are signed in here may use the API.
  router.get('/token', async (context) => {
    context.body = { token: await workspace.tokenFor(notes.whoIs(context.headers.cookie)) };
  });
  app.use(router.routes());
  app.use(toKoa(workspace.api)); // Questline: mounted after the routes above, which stay unchanged.
  app.use((context) => {
    context.status = 404;
    context.body = { problem: 'No such page' };
  });
  return app;
}
