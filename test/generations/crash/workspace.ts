import { COLLECTIONS, createApi, createServices } from '@questline/core';
import { createDirectoryObjects } from '@questline/core/directory';
import { createIds, createSystemClock } from '@questline/core/memory';
import {
  type GenerateOptions,
  type MediaJobStatus,
  type ModelProvider,
  ProviderError,
} from '@questline/core/ports';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { FILM_MODEL } from '../../support/generations.ts';

export interface Address {
  readonly folder: string;
  /** Address of the provider. */
  readonly studio: string;
}

export const POLL_MS = 8000;
/** Longer than two polls, so that a poll that waits for the lease is detected as late. */
const LEASE_MS = 20_000;

/** A complete service on one SQLite file and one folder, as each process opens it. */
export async function openWorkspace({ folder, studio }: Address, onError: (error: unknown) => void) {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const database = createSqliteDatabase({ path: `${folder}/records.db`, timeoutMs: 30_000 });
  await migrate(database, { collections: COLLECTIONS });
  const services = createServices(
    {
      ...createSqlPorts(database, { clock, ids }),
      objects: createDirectoryObjects({ folder: `${folder}/objects` }),
      models: [createRemoteProvider(studio)],
      clock,
      ids,
    },
    {
      jwtSecret: 'a'.repeat(64),
      generations: { pollMs: POLL_MS },
      worker: { leaseMs: LEASE_MS, pollMs: 50 },
      onError: ({ error }) => onError(error),
    },
  );
  return { services, api: createApi(services, { worker: false }), close: () => database.close() };
}

function createRemoteProvider(studio: string): ModelProvider {
  const models = [FILM_MODEL];
  const ask = async (path: string, options: GenerateOptions, init: RequestInit = {}): Promise<Response> => {
    const { signal } = options;
    const answer = await fetch(`${studio}/works${path}`, {
      ...init,
      ...(signal !== undefined && { signal }),
    }).catch((cause: unknown) => {
      throw new ProviderError('failed', 'not reached', { cause });
    });
    if (!answer.ok) throw new ProviderError('invalid_request', `status ${answer.status}`);
    return answer;
  };
  return {
    id: 'videos',
    models: () => models,
    generate: () => Promise.reject(new Error('says nothing')),
    video: {
      async submit({ prompt }, options) {
        const answer = await ask('', options, { method: 'POST', body: prompt });
        return ((await answer.json()) as { id: string }).id;
      },
      async poll(id, options): Promise<MediaJobStatus> {
        const { state } = (await (await ask(`/${id}`, options)).json()) as { state: string };
        if (state === 'running') return { state };
        return state === 'done'
          ? { state, output: id }
          : { state: state as 'failed' | 'blocked', message: state };
      },
      async fetch(output, options) {
        const answer = await ask(`/${output}/content`, options);
        return { mediaType: answer.headers.get('content-type') ?? '', body: read(answer) };
      },
    },
  };
}

/** Keeps the answer: `fetch` cancels the body of an answer that is collected as garbage, and it then ends without an error. */
async function* read(answer: Response): AsyncGenerator<Uint8Array> {
  if (answer.body !== null) yield* answer.body;
}
