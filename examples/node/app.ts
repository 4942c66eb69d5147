import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { toNodeListener } from '@questline/core';
import { createNotes, problem } from '@questline/example-notes';
import { createWorkspace } from '@questline/example-notes/workspace';

/** A small application with sign-in, notes and an error handler, on `node:http` alone. The three lines of Questline are marked. */
export function build(jwtSecret: string): RequestListener {
  const notes = createNotes();
  const workspace = createWorkspace(jwtSecret); // Questline

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
      // Questline: whoever has signed in here may use the api.
      case 'GET /token':
        return send(response, 200, { token: await workspace.tokenFor(notes.whoIs(cookie)) });
      default:
        return send(response, 404, { problem: 'No such page' });
    }
  }

  const ours: RequestListener = (request, response) => {
    answer(request, response).catch((error: unknown) => {
      const { status, body } = problem(error);
      send(response, status, body);
    });
  };
  return toNodeListener(workspace.api, ours); // Questline
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}
