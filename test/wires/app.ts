import { type Mountable, toFetchHandler, USERS } from '@questline/core';
import { createToolServer } from '../openai/support-mcp.ts';
import type { Merged } from '../support/answers.ts';
import { type ChatAppOptions, createChatApp, type Quest } from '../support/chat.ts';
import type { Execution } from '../support/execution.ts';
import type { Generation } from '../support/generations.ts';
import { filledLake } from '../support/lakes.ts';
import { createRecordingProvider } from './provider.ts';
import type { GuardedApp } from './wire.ts';

export const SCOPES = [
  'ai:chat',
  'ai:generate',
  'agents:read',
  'notebooks:read',
  'notebooks:write',
  'datalake:read',
  'datalake:query',
  'files:read',
  'files:write',
] as const;

/** An app whose provider answers every call at once. Without a worker until `api.start`. */
export async function createGuardedApp(options: ChatAppOptions = {}): Promise<GuardedApp> {
  const { provider, asked } = createRecordingProvider();
  const app = await createChatApp({
    started: false,
    models: [provider],
    web: { fetchFile: async () => ({ mediaType: 'image/png', data: new Uint8Array(3) }) },
    ...options,
    key: { scopes: SCOPES, ...options.key },
    settings: {
      secretEncryptionKey: 'c'.repeat(64),
      skills: [
        {
          id: 'letter',
          name: 'Letter',
          description: 'Writes letters.',
          instructions: 'Be brief.',
          listed: true,
        },
      ],
      tools: [createToolServer().registry],
      ...options.settings,
      admin: {
        DefaultAPIModel: 'scripted',
        DefaultImageModel: 'painter',
        EnableDataLakes: true,
        ...options.settings?.admin,
      },
    },
  });
  return { ...app, asked };
}

/** Handles requests to an api at a mount path. */
export function toHandler(api: Mountable, mountPath: string): (request: Request) => Promise<Response> {
  const handle = toFetchHandler(api, mountPath === '' ? {} : { mountPath });
  return async (request) => (await handle(request)) ?? new Response('{}', { status: 404 });
}

export const WORK_DOES_NOT_END = 'the work does not end';

type Working = Pick<GuardedApp, 'settle' | 'clock'>;

/** Runs accepted work until a condition holds. */
async function workUntil(app: Working, isDone: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 600; round += 1) {
    await app.settle();
    if (await isDone()) return;
    await app.clock.advance(100);
  }
  throw new Error(WORK_DOES_NOT_END);
}

/** Lets the app work until a promise settles. */
export async function whileWorking<T>(app: Working, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  promise.then(end, end);
  await workUntil(app, async () => isOver);
  return promise;
}

/** An access token of the user of a credential. */
export async function signIn(app: GuardedApp, credential: string | null): Promise<string> {
  const { userId } = await app.services.authenticator.identify(credential ?? '');
  return app.token(await app.services.store.collection(USERS).get(userId));
}

/** @returns the id of a session of the user of a credential, always the same. */
export async function findSession(app: GuardedApp, token: string): Promise<string> {
  const listed = await app.json('GET', '/api/v1/sessions', { credential: token });
  const [first] = listed.body.data;
  if (first !== undefined) return first.id;
  const made = await app.json('POST', '/api/v1/sessions', { credential: token, body: { name: 'Work' } });
  return made.body.id;
}

const ENDED: readonly unknown[] = [
  ...['done', 'stopped', 'completed', 'failed', 'aborted'],
  ...['succeeded', 'blocked', 'cancelled'],
];

/** The fields of jobs of all kinds. */
type Job = Partial<Merged<Quest | Execution | Generation>>;

/** Works until a job has ended. @returns the body of its poll. */
export async function workJob(app: GuardedApp, path: string, token: string): Promise<Job> {
  await app.api.start();
  let body: Job = {};
  await workUntil(app, async () => {
    body = (await (await app.ask('GET', path, { credential: token })).json()) as Job;
    return ENDED.includes(body.status ?? body.state);
  });
  return body;
}

/** @returns the id of a public data lake with a file. */
export async function findLake(app: GuardedApp): Promise<string> {
  const { lakeId } = await filledLake(app, { 'a.txt': 'Rain.' }, { name: 'Public', is_public: true });
  return lakeId;
}
