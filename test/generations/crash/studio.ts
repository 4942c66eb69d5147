import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRandom } from '@questline/testing';
import { getVideo } from '../../support/generations.ts';

/** A job at the provider. */
export interface Work {
  readonly id: string;
  readonly prompt: string;
  readonly outcome: 'done' | 'failed' | 'blocked';
  /** Epoch milliseconds. */
  readonly endsAt: number;
  looks: number;
}

/** A provider on loopback that outlives its clients and counts submissions. */
export interface RemoteStudio {
  readonly url: string;
  /** In the order of submission. */
  readonly works: readonly Work[];
  close(): Promise<void>;
}

/** Delay of the answer to a submission, after the job was created. */
const ANSWER_MS = 300;
const MIN_MS = 3000;
const MAX_MS = 9000;

export async function openStudio(): Promise<RemoteStudio> {
  const random = createRandom(23);
  const works: Work[] = [];

  const accept = (prompt: string): Work => {
    const chance = random.below(100);
    const work: Work = {
      id: `work-${works.length}`,
      prompt,
      outcome: chance < 3 ? 'failed' : chance < 6 ? 'blocked' : 'done',
      endsAt: Date.now() + MIN_MS + random.below(MAX_MS - MIN_MS),
      looks: 0,
    };
    works.push(work);
    return work;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, path, id, part] = (request.url ?? '').split('/');
    const send = (body: object): void => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(body));
    };
    if (request.method === 'POST' && path === 'works') {
      const work = accept(await getText(request));
      setTimeout(() => send({ id: work.id }), random.below(ANSWER_MS));
      return;
    }
    const work = works.find((one) => one.id === id);
    if (work === undefined) {
      response.statusCode = 404;
      return send({});
    }
    if (part === 'content') {
      response.setHeader('Content-Type', 'video/mp4');
      response.end(getVideo(20_000));
      return;
    }
    work.looks += 1;
    send({ state: Date.now() < work.endsAt ? 'running' : work.outcome });
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    works,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function getText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
