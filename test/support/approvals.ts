import {
  answered,
  createApi,
  createServices,
  createToolbox,
  defineTool,
  toFetchHandler,
} from '@questline/core';
import { createFakeIds } from '@questline/testing';
import * as z from 'zod';
import {
  answerParts,
  type ChatApp,
  type ChatAppOptions,
  createChatApp,
  type JsonAnswer,
  type Quest,
} from './chat.ts';
import { callTool } from './execution.ts';
import { createScriptedProvider, type ModelCall, type ScriptedProvider } from './model.ts';

/** Work of one round, in credits of the scripted model: 10 input tokens and 5 output tokens. */
export const ROUND = 150_000;

export interface Mail {
  readonly to: string;
  readonly callKey: string;
}

/** An app with a gated tool, `send_mail`, and one without effects, `look_up`. */
export interface ApprovalApp extends ChatApp {
  /** The mails that were sent, in all processes. */
  readonly sent: readonly Mail[];
  readonly looked: readonly string[];
  /** Another process on the same store and ledger. */
  open(): Promise<ApprovalProcess>;
  decide(id: string, ...decisions: object[]): Promise<JsonAnswer<Quest>>;
}

export interface ApprovalProcess {
  readonly model: ScriptedProvider;
  json(method: string, path: string, options?: { body?: unknown }): Promise<JsonAnswer>;
  close(): Promise<void>;
}

/** The tools, and what they did. */
export function createMailTools() {
  const sent: Mail[] = [];
  const looked: string[] = [];
  const tools = createToolbox([
    defineTool({
      id: 'send_mail',
      fits: /mail/i,
      description: 'Sends a mail.',
      input: z.object({ to: z.email() }),
      offered: 'default',
      gated: true,
      run({ to }, { callKey }) {
        sent.push({ to, callKey });
        return answered(`Sent to ${to}.`);
      },
    }),
    defineTool({
      id: 'look_up',
      description: 'Looks a name up.',
      input: z.object({ name: z.string() }),
      offered: 'default',
      run({ name }) {
        looked.push(name);
        return answered(`${name} is ${name}@example.com.`);
      },
    }),
  ]);
  return { sent, looked, tools };
}

/** A model that calls the tool in its first round, and then says what it got. */
export function callOnce(name = 'send_mail', input: unknown = { to: 'bob@example.com' }, thought = '') {
  return (call: ModelCall): void => {
    const last = call.request.messages.at(-1)?.content[0];
    if (last?.type === 'tool_result') {
      call.say(...answerParts(`Result: ${last.content}`));
      call.end();
    } else callTool(call, name, input, thought);
  };
}

export async function createApprovalApp(options: ChatAppOptions = {}): Promise<ApprovalApp> {
  const { sent, looked, tools } = createMailTools();
  const onCall = options.onCall ?? callOnce();
  const settings = { tools: [tools], ...options.settings };
  const app = await createChatApp({ ...options, onCall, settings });
  return {
    ...app,
    sent,
    looked,
    decide: (id, ...decisions) => app.json('POST', `/api/v1/quests/${id}/decisions`, { body: { decisions } }),
    async open() {
      const model = createScriptedProvider(onCall);
      const { store, ledger, limiter, clock } = app.services;
      const services = createServices(
        { store, ledger, limiter, clock, ids: createFakeIds(7), models: [model] },
        {
          jwtSecret: 'a'.repeat(64),
          secretEncryptionKey: 'b'.repeat(64),
          admin: { DefaultAPIModel: 'scripted' },
          tools: [tools],
        },
      );
      const api = createApi(services);
      const handle = toFetchHandler(api);
      await api.start();
      return {
        model,
        close: () => api.close(),
        async json(method, path, { body } = {}) {
          const response = await handle(
            new Request(`http://questline.test${path}`, {
              method,
              headers: { Authorization: `Bearer ${app.key}`, 'Content-Type': 'application/json' },
              ...(body !== undefined && { body: JSON.stringify(body) }),
            }),
          );
          if (response === undefined) throw new Error('not ours');
          return { status: response.status, body: await response.json(), headers: response.headers };
        },
      };
    },
  };
}
