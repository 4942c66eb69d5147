import { createApi, createServices, toFetchHandler } from '@questline/core';
import { QUEST_TEXTS } from '@questline/core/internal';
import type { Publisher } from '@questline/core/ports';
import { createFakeIds } from '@questline/testing';
import { type ChatApp, type ChatAppOptions, createChatApp, silent } from './chat.ts';
import { createGate } from './gate.ts';
import { createFollower, type Frame, openFrames } from './live-events.ts';
import { createScriptedProvider } from './model.ts';

/** The end of an answer. */
export const END = { type: 'usage', usage: { input: 10, output: 3 } } as const;

export const say = (text: string) => ({ type: 'text', text }) as const;

/** Begins a turn whose answer the test says. */
export async function beginChat(options: ChatAppOptions = {}, body: object = { message: 'Hi' }) {
  const app = await createChatApp({ onCall: silent, ...options });
  const { id } = (await app.chat(body)).body;
  await app.settle();
  const call = app.calls[0];
  if (call === undefined) throw new Error('no call');
  const path = `/api/v1/quests/${id}/events`;
  return { app, id: String(id), call, path, follow: (more?: object) => app.ask('GET', path, more) };
}

/** Lets the writer write what it has. */
export async function pass({ clock, settle }: Pick<ChatApp, 'clock' | 'settle'>, ms = 100): Promise<void> {
  await settle();
  await clock.advance(ms);
  await settle();
}

/** A turn that runs in one process, and another process on the same store. @param publisher shared by both; absent: none is. */
export async function beginInTwoProcesses(publisher?: Publisher) {
  const gate = createGate();
  const shared = publisher === undefined ? {} : { publisher };
  const started = await beginChat({ store: gate.store, ledger: gate.ledger, ...shared });
  const { app, id } = started;
  const { limiter } = app.services;
  const { clock } = app;
  const model = createScriptedProvider(silent);
  const services = createServices(
    { ...gate.shared, limiter, clock, ids: createFakeIds(2), models: [model], ...shared },
    { jwtSecret: 'a'.repeat(64) },
  );
  const other = createApi(services, { worker: false });
  const handle = toFetchHandler(other);
  /** Sends a request to the other process. */
  const askOther = async (
    path: string,
    headers: Readonly<Record<string, string>> = {},
    method = 'GET',
  ): Promise<Response> => {
    const request = new Request(`http://questline.test${path}`, {
      method,
      headers: { Authorization: `Bearer ${app.key}`, ...headers },
    });
    const response = await handle(request);
    if (response === undefined) throw new Error('no answer');
    return response;
  };
  return {
    ...started,
    gate,
    model,
    followOther: (headers?: Readonly<Record<string, string>>) => askOther(started.path, headers),
    cancelOther: () => askOther(`/api/v1/quests/${id}/cancel`, {}, 'POST'),
    async pollOther() {
      return (await (await askOther(`/api/v1/quests/${id}`)).json()) as Record<string, unknown>;
    },
    /** The first process is paused, and the other one takes over. */
    async takeOver(): Promise<void> {
      gate.shut();
      await other.start();
      for (let left = 90_000; left > 0; left -= 5000) {
        await clock.advance(5000);
        await app.settle();
      }
    },
    close: () => other.close(),
  };
}

type Begun = Awaited<ReturnType<typeof beginChat>>;

/** What `speak` says at a time. */
export const WORD = 'abcdefghij';

/** Says a word each 100 milliseconds. */
export async function speak({ app, call }: Pick<Begun, 'app' | 'call'>, seconds: number): Promise<void> {
  for (let part = 0; part < seconds * 10; part += 1) {
    call.say(say(WORD));
    await pass(app);
  }
}

/** Counts the pieces of text beside the record. */
export function countPieces({ app, id }: Pick<Begun, 'app' | 'id'>): Promise<number> {
  return app.services.store.collection(QUEST_TEXTS).count({ questId: id });
}

/** Follows events in the background. @param known frames of an earlier connection. */
export async function attach(response: Response, known: readonly Frame[] = []) {
  const follower = createFollower();
  for (const frame of known) follower.apply(frame);
  const frames = openFrames(response);
  const reading = (async () => {
    for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
      follower.apply(frame);
    }
  })();
  return { follower, reading };
}
