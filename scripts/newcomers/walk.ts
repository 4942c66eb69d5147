import { setTimeout as pause } from 'node:timers/promises';
import type { Program } from './programs.ts';

/** Bounded, because an API key may send sixty requests a minute. */
const POLLS = 20;
const POLL_INTERVAL_MS = 250;

export interface Visit {
  readonly url: string;
  readonly key: string;
  readonly program: Program;
}

type Check = (visit: Visit) => Promise<void>;

/** The checks of every program, by name. Each rejects with the failure. */
export const CHECKS: Readonly<Record<string, Check>> = {
  async 'own route'({ url, program }) {
    if (program.hasOwnRoute) {
      const own = await fetch(`${url}/api/users`);
      const text = await own.text();
      expectEqual(text.trim(), '["mine"]', 'GET /api/users');
    }
    if (program.isAlone) return;
    const other = await fetch(`${url}/elsewhere`);
    await other.text();
    expectEqual(other.status, 404, 'status of GET /elsewhere');
    expectEqual(other.headers.get('x-request-id'), null, 'x-request-id of GET /elsewhere');
  },

  async chat(visit) {
    const answer = await ask(visit, '/api/chat', { message: 'Hello', newConversation: true, wait: true });
    expectEqual(answer.status, 'done', 'status of the chat');
    expectEqual(answer.type, 'message', 'type of the chat');
  },

  async stream({ url, key, program: { model = 'demo-echo' } }) {
    const response = await fetch(`${url}/api/ai/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'one two three four' }] }),
    });
    const text = await response.text();
    expectEqual(response.status, 200, text);
    const parts = [...text.matchAll(/^data: \{"type":"content","text":"([^"]+)"/gm)].map(([, part]) => part);
    if (parts.length < 2) throw new Error(`expected several events: ${text}`);
    expectEqual(parts.join('').includes('one two three four'), true, `the answer in ${text}`);
    expectEqual(text.endsWith('data: [DONE]\n\n'), true, `the end of ${text}`);
  },

  async quest(visit) {
    const accepted = await ask(visit, '/api/chat', { message: 'Hello', newConversation: true });
    const quest = await poll(
      () => ask(visit, `/api/v1/quests/${accepted.id}`),
      ({ status }) => status === 'done',
    );
    expectEqual(quest.type, 'message', 'type of the quest');
  },

  async upload(visit) {
    const bytes = new TextEncoder().encode('A file of a newcomer.\n');
    const file = { file_name: 'note.txt', mime_type: 'text/plain', file_size: bytes.length };
    const { id, upload_url } = await ask(visit, '/api/v1/files', file);
    const upload = await fetch(new URL(String(upload_url), visit.url), {
      method: 'PUT',
      headers: { 'content-type': file.mime_type },
      body: bytes,
    });
    expectEqual(upload.ok, true, `PUT of the file, ${upload.status} ${await upload.text()}`);
    const { download_url } = await poll(
      () => ask(visit, `/api/v1/files/${id}`),
      ({ moderation_status }) => moderation_status === 'clean',
    );
    const download = await fetch(new URL(String(download_url), visit.url));
    expectEqual(await download.text(), new TextDecoder().decode(bytes), 'the downloaded file');
  },
};

type Answer = Readonly<Record<string, unknown>>;

async function ask({ url, key }: Visit, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answers ${response.status} ${text}`);
  return JSON.parse(text);
}

async function poll(read: () => Promise<Answer>, isDone: (answer: Answer) => boolean): Promise<Answer> {
  for (let count = 1; ; count += 1) {
    const answer = await read();
    if (isDone(answer)) return answer;
    if (count === POLLS) throw new Error(`still not done: ${JSON.stringify(answer)}`);
    await pause(POLL_INTERVAL_MS);
  }
}

function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (actual !== expected) throw new Error(`${what}: expected ${expected}, got ${actual}`);
}
