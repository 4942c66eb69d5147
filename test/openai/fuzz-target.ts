import { createDemoProvider, toFetchHandler } from '@questline/core';
import { createOpenAIApi } from '@questline/openai';
import { expect } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { createSoundStudio, createStudio } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';
import { withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { whileWorking } from '../wires/app.ts';

/** Generated requests per operation. The default is small; `npm run soak:wires` sends 5,000. */
export const RUNS = Number(process.env.QUESTLINE_FUZZ_RUNS ?? 300);

export type Send = (
  method: string,
  path: string,
  body?: string | FormData,
  type?: string,
) => Promise<Response>;

export interface Target {
  readonly app: ChatApp;
  readonly send: Send;
}

/** An app whose answers are checked against the types of the vendor's SDK. */
export async function createTarget(): Promise<Target> {
  const provider = createScriptedProvider((asked) => {
    asked.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage: { input: 4, output: 2 } });
    asked.end();
  });
  const app = await createChatApp({
    credits: 1e9,
    models: [provider, createStudio(), createSoundStudio({}, 'sounds'), createDemoProvider()],
    key: {
      scopes: ['ai:chat', 'ai:generate', 'files:read', 'files:write'],
      requestsPerMinute: 1e9,
      requestsPerDay: 1e9,
    },
    web: { fetchFile: async () => ({ mediaType: 'image/png', data: new Uint8Array(3) }) },
  });
  const handle = toFetchHandler(withVendorTypes('openai', createOpenAIApi(app.services)), {
    mountPath: '/openai',
  });
  const send: Send = async (method, path, body, type) => {
    const request = new Request(`http://questline.test/openai/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${app.key}`, ...(type !== undefined && { 'Content-Type': type }) },
      ...(body !== undefined && { body }),
    });
    const response = await handle(request);
    if (response === undefined) throw new Error(`${path} was not answered`);
    return response;
  };
  return { app, send };
}

/** Reads an answer: no 5xx, and errors in the shape of the wire. */
export async function check(app: ChatApp, sent: Promise<Response>): Promise<Response> {
  const [response, answer] = await whileWorking(app, readAll(sent));
  checkAnswer(response, answer, '');
  return response;
}

/** Checks that an answer is no 5xx, and that an error has the shape of the wire. @param about the request. */
export function checkAnswer({ status }: Pick<Response, 'status'>, answer: string, about: string): void {
  expect(status, `${about}: ${answer.slice(0, 500)}`).toBeLessThan(500);
  if (status < 400) return;
  expect(JSON.parse(answer)).toEqual({
    error: {
      message: expect.stringMatching(/./),
      type: expect.stringMatching(/_error$/),
      param: expect.toSatisfy(isTextOrNull),
      code: expect.toSatisfy(isTextOrNull),
    },
  });
}

async function readAll(sent: Promise<Response>): Promise<[response: Response, text: string]> {
  const response = await sent;
  return [response, await response.text()];
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}
