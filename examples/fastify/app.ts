import { createNotes, problem } from '@questline/example-notes';
import { createWorkspace } from '@questline/example-notes/workspace';
import { toFastify } from '@questline/fastify';
import Fastify, { type FastifyInstance } from 'fastify';

/** A small application with sign-in, notes and an error handler. The three lines of Questline are marked. */
export function build(jwtSecret: string): FastifyInstance {
  const notes = createNotes();
  const workspace = createWorkspace(jwtSecret); // Questline
  const app = Fastify();

  app.post('/login', async (request, reply) => {
    reply.header('Set-Cookie', notes.signIn(request.body)).code(204);
  });
  app.get('/notes', async (request) => notes.list(notes.whoIs(request.headers.cookie)));
  app.post('/notes', async (request, reply) => {
    reply.code(201);
    return notes.add(notes.whoIs(request.headers.cookie), request.body);
  });
  // Questline: users who are signed in here may use the API.
  app.get('/token', async (request) => ({
    token: await workspace.tokenFor(notes.whoIs(request.headers.cookie)),
  }));
  app.register(toFastify(workspace.api)); // Questline

  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send({ problem: 'No such page' }));
  app.setErrorHandler(async (error, _request, reply) => {
    const { status, body } = problem(error);
    return reply.code(status).send(body);
  });
  return app;
}
