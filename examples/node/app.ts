import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { toNodeListener } from '@questline/core';
import { createNotes, problem } from '@questline/example-notes';
import { createWorkspace } from '@questline/example-notes/workspace';

/**
 * A small application with sign-in, notes and an error handler, on `node:http` only. The lines of Questline
 * are marked.
 */
export function build(jwtSecret: string): RequestListener {
  const notes = createNotes();
  const workspace = createWorkspace(jwtSecret); // Questline
  const questline = toNodeListener(workspace.api, (_request, response) => {
    send(response, 404, { problem: 'No such page' });
  }); // Questline: called for paths that are not routes of the application.

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { cookie } = request.headers;
    switch (`${request.method} ${request.url}`) {
      case 'POST /login':
        response.writeHead(204, { 'Set-Cookie': notes.signIn(await json(request)) }).end();
        return;
      case 'GET /notes':
        return send(response, 200, notes.list(notes.whoIs(cookie)));
      case 'POST /notes':
        return send(response, 201, notes.add(notes.whoIs(cookie), await json(request)));
      // Questline: users who are signed in here may use the API.
      case 'GET /token':
        return send(response, 200, { token: await workspace.tokenFor(notes.whoIs(cookie)) });
      default:
        questline(request, response); // Questline
    }
  }

  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      const { status, body } = problem(error);
      send(response, status, body);
    });
  };
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}
