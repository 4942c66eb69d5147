import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@questline/testing';
import { Agent, request } from 'undici';
import { type Memory, rememberQuest } from './memory.ts';

/** One client with the keys of several accounts. */
export interface Client {
  readonly memory: Memory;
  readonly keys: readonly string[];
  /** Addresses of the processes that answer. */
  urls(): readonly string[];
}

interface Response {
  readonly status: number;
  readonly requestId: string;
  readonly text: string;
}

interface Sending {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
  /** The client disconnects after so many bytes. */
  readonly leaveAfter?: number;
}

type Operation = (client: Client, random: Random, number: number) => Promise<void>;

const RESENT_FOR_MS = 45_000;
const RESEND_PAUSE_MS = 500;
const DONE = 'data: [DONE]\n\n';

const agent = (): Agent => new Agent({ connections: 64, headersTimeout: 90_000, bodyTimeout: 90_000 });

export function createOperations() {
  const dispatcher = agent();

  const count = ({ memory }: Client, name: string, status: number | string): void => {
    const kind = `${name} ${status}`;
    memory.statuses.set(kind, (memory.statuses.get(kind) ?? 0) + 1);
  };

  /** @returns undefined when no response, or only its beginning, arrived. */
  const send = async (client: Client, random: Random, sending: Sending): Promise<Response | undefined> => {
    const { name, method, path, key, body, idempotencyKey, leaveAfter = Number.POSITIVE_INFINITY } = sending;
    const urls = client.urls();
    if (urls.length === 0) {
      count(client, name, 'no process');
      return undefined;
    }
    let hasBegun = false;
    try {
      const answer = await request(random.pick(urls) + path, {
        method,
        dispatcher,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      hasBegun = answer.statusCode === 200;
      count(client, name, answer.statusCode);
      let text = '';
      for await (const chunk of answer.body) {
        text += String(chunk);
        if (text.length <= leaveAfter) continue;
        client.memory.cut += 1;
        return undefined;
      }
      const requestId = String(answer.headers['x-request-id']);
      // The models of the demo do not fail.
      if (answer.statusCode === 500 || answer.statusCode === 502 || /"status":50[02]/.test(text)) {
        client.memory.faults.push(`${name} ${requestId} ${text.slice(0, 200)}`);
      }
      return { status: answer.statusCode, requestId, text };
    } catch {
      count(client, name, 'reset');
      if (hasBegun) client.memory.cut += 1;
      return undefined;
    }
  };

  const accepted = ({ memory }: Client, response: Response | undefined, key?: string): void => {
    if (response?.status !== 200) return;
    rememberQuest(memory, (JSON.parse(response.text) as { id: string }).id, key);
  };

  /** Repeats the request with the same Idempotency-Key until it is answered. */
  const sendOnce = async (
    client: Client,
    random: Random,
    sending: Sending & { readonly idempotencyKey: string },
  ): Promise<void> => {
    for (const end = Date.now() + RESENT_FOR_MS; Date.now() < end; await pause(RESEND_PAUSE_MS)) {
      const response = await send(client, random, sending);
      const isOpen = response === undefined || response.status >= 500 || response.status === 409;
      if (isOpen) continue;
      return accepted(client, response, sending.idempotencyKey);
    }
  };

  const chat = (more: object) => (client: Client, random: Random, number: number) => ({
    name: 'wait' in more ? 'wait' : 'chat',
    method: 'POST' as const,
    path: '/api/chat',
    key: random.pick(client.keys),
    body: { message: `operation ${number}`, ...more },
  });

  const completion =
    (name: string, model: string, options: object, leaves: boolean): Operation =>
    async (client, random, number) => {
      const response = await send(client, random, {
        name,
        method: 'POST',
        path: '/api/ai/v1/completions',
        key: random.pick(client.keys),
        body: {
          model,
          messages: [{ role: 'user', content: `operation ${number}` }],
          options: { maxTokens: 200 },
          ...options,
        },
        ...(leaves && { leaveAfter: 200 + random.below(400) }),
      });
      if (response?.status !== 200 || !response.text.endsWith(DONE)) return;
      const used = [...response.text.matchAll(/"credits":\{"used":([\d.e-]+)/g)].at(-1)?.[1];
      if (used !== undefined) client.memory.reported.set(response.requestId, Math.round(Number(used) * 1e6));
    };

  const ofQuest =
    (name: string, method: 'GET' | 'POST', suffix: string): Operation =>
    async (client, random) => {
      const recent = [...client.memory.quests.keys()].slice(-20);
      if (recent.length === 0) return;
      const path = `/api/v1/quests/${random.pick(recent)}${suffix}`;
      for (const key of client.keys) {
        const response = await send(client, random, { name, method, path, key });
        if (response?.status !== 404) return;
      }
    };

  const list =
    (path: string): Operation =>
    async (client, random) => {
      await send(client, random, { name: 'list', method: 'GET', path, key: random.pick(client.keys) });
    };

  const operations: readonly (readonly [weight: number, operation: Operation])[] = [
    [
      14,
      async (client, random, number) =>
        accepted(client, await send(client, random, chat({})(client, random, number))),
    ],
    [
      14,
      async (client, random, number) => {
        const sending = { ...chat({})(client, random, number), idempotencyKey: `chaos-${number}` };
        const twice = random.chance(0.3) ? 2 : 1;
        await Promise.all(Array.from({ length: twice }, () => sendOnce(client, random, sending)));
      },
    ],
    [
      6,
      async (client, random, number) =>
        accepted(client, await send(client, random, chat({ wait: true })(client, random, number))),
    ],
    [12, completion('completion', 'demo-chat', {}, false)],
    [10, completion('short completion', 'demo-echo', { stream: false }, false)],
    [3, completion('left completion', 'demo-chat', {}, true)],
    [
      5,
      async (client, random, number) => {
        await send(client, random, {
          name: 'embeddings',
          method: 'POST',
          path: '/api/v1/embeddings',
          key: random.pick(client.keys),
          body: { model: 'demo-embedding', input: `operation ${number}` },
        });
      },
    ],
    [
      2,
      async (client, random, number) =>
        accepted(
          client,
          await send(client, random, {
            name: 'image',
            method: 'POST',
            path: '/api/v1/image-generations',
            key: random.pick(client.keys),
            body: { model: 'demo-image', prompt: `operation ${number}`, size: '64x64' },
          }),
        ),
    ],
    [4, ofQuest('cancel', 'POST', '/cancel')],
    [18, ofQuest('poll', 'GET', '')],
    [6, list('/api/v1/sessions')],
    [3, list('/api/v1/models')],
    [3, list('/api/v1/usage')],
  ];
  const bag = operations.flatMap(([weight, operation]) => Array.from({ length: weight }, () => operation));
  return { bag, close: () => dispatcher.destroy() };
}
