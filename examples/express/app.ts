import { createNotes, problem } from '@questline/example-notes';
import { createWorkspace } from '@questline/example-notes/workspace';
import { toExpress } from '@questline/express';
import express, { type ErrorRequestHandler, type Express } from 'express';

/** A small application with sign-in, notes and an error handler. The three lines of Questline are marked. */
export function build(jwtSecret: string): Express {
  const notes = createNotes();
  const workspace = createWorkspace(jwtSecret); // Questline
  const app = express();
  const json = express.json();

  app.post('/login', json, (request, response) => {
    response.setHeader('Set-Cookie', notes.signIn(request.body));
    response.sendStatus(204);
  });
  app.get('/notes', (request, response) => {
    response.json(notes.list(notes.whoIs(request.headers.cookie)));
  });
  app.post('/notes', json, (request, response) => {
    response.status(201).json(notes.add(notes.whoIs(request.headers.cookie), request.body));
  });
  // Questline: users who are signed in here may use the API.
  app.get('/token', async (request, response) => {
    response.json({ token: await workspace.tokenFor(notes.whoIs(request.headers.cookie)) });
  });
  app.use(toExpress(workspace.api)); // Questline: mounted after the routes above, which stay unchanged.

  app.use((_request, response) => {
    response.status(404).json({ problem: 'No such page' });
  });
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    const { status, body } = problem(error);
    response.status(status).json(body);
  };
  app.use(onError);
  return app;
}
