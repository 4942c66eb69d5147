import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError } from '@ai-sdk/provider';
import { isProviderError, type ModelPart, type ModelProvider } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAICompatibleProvider } from '@questline/providers/compatible';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAiSdkProvider } from '../../src/index.ts';
import { getChunks, hello, scripted, toFailure } from '../scripted.ts';
import { ANSWERS, type AnswerRow } from './answers.ts';
import { ERRORS, type ErrorRow, type Vendor } from './errors.ts';

const KEY = 'sk-test-SECRETSECRETSECRET';

let server: Server;
let base = '';
let row: ErrorRow | AnswerRow | undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().once('end', () => {
      if (row === undefined) throw new Error('no row');
      if ('events' in row) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(row.events.map(frame).join(''));
        return;
      }
      const { status, body, headers } = row;
      response.sendDate = false;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function frame(event: object | string): string {
  const name = typeof event === 'object' && 'type' in event ? `event: ${event.type}\n` : '';
  return `${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
}

function createOwn(vendor: Vendor): ModelProvider {
  const options = { apiKey: KEY, baseUrl: base };
  switch (vendor) {
    case 'anthropic':
      return createAnthropicProvider(options);
    case 'gemini':
      return createGeminiProvider(options);
    case 'xai':
      return createXAIProvider(options);
    case 'compatible':
      return createOpenAICompatibleProvider({ ...options, id: vendor, models: ['m'] });
    default:
      return createOpenAIProvider(options);
  }
}

function createBridged(vendor: Vendor): ModelProvider {
  const model =
    vendor === 'anthropic'
      ? createAnthropic({ apiKey: KEY, baseURL: base })('m')
      : vendor === 'gemini'
        ? scripted([], { doStream: callGoogle }).model
        : createOpenAI({ apiKey: KEY, baseURL: base }).chat('m');
  return createAiSdkProvider({
    id: vendor,
    models: [{ id: 'm', model, contextWindow: 8000, maxOutputTokens: 1000 }],
  });
}

/** The error of Google's package: its error schema parses `error.message` and keeps the complete body. */
async function callGoogle(): Promise<never> {
  const response = await fetch(`${base}/models/m:streamGenerateContent`, { method: 'POST', body: '{}' });
  const responseBody = await response.text();
  throw new APICallError({
    message: messageIn(responseBody) ?? response.statusText,
    url: response.url,
    requestBodyValues: {},
    statusCode: response.status,
    responseHeaders: Object.fromEntries(response.headers),
    responseBody,
  });
}

function messageIn(text: string): string | undefined {
  try {
    return JSON.parse(text).error?.message;
  } catch {
    return undefined;
  }
}

async function classify(provider: ModelProvider): Promise<Record<string, unknown>> {
  const error = await toFailure((async () => getChunks(await provider.generate(hello, {})))());
  await provider.close?.();
  if (!isProviderError(error)) throw error;
  const { kind, status, code, param, retryAfterMs, message } = error;
  expect(message).not.toContain(KEY);
  return { kind, status, code, param, retryAfterMs };
}

/** Rows in which the native provider and the bridge differ, with the reason. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'compatible text and a terminator without a reason':
    'The SDK ends an answer without a finish reason as an error, and does not pass the terminator on.',
};

describe('native provider and bridge classify the same answer equally', () => {
  it('has at least 100 unique rows', () => {
    const names = ERRORS.map(({ vendor, name }) => `${vendor} ${name}`);
    expect(names.length).toBeGreaterThanOrEqual(100);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(ERRORS)('classifies an answer of $vendor equally: $name', async (one) => {
    row = one;
    const { kind, status, code, param, retryAfterMs } = one;
    const own = await classify(createOwn(one.vendor));
    expect(own).toEqual({ kind, status, code, param, retryAfterMs });
    const bridged = await classify(createBridged(one.vendor));
    expect(bridged).toEqual(own);
  });
});

/** Text, calls and finish reason in one line, or the kind of failure; and the reported usage. */
async function read(provider: ModelProvider): Promise<{ said: string; usage: unknown }> {
  let said = '';
  let usage: unknown;
  try {
    for (const part of (await getChunks(await provider.generate(hello, {}))).flat() as ModelPart[]) {
      if (part.type === 'text') said += part.text;
      if (part.type === 'tool_use') said += `${part.name}(${part.arguments})`;
      if (part.type === 'finish') said += `|${part.reason}`;
      if (part.type === 'usage') usage = { input: part.usage.input, output: part.usage.output };
    }
    return { said, usage };
  } catch (error) {
    if (!isProviderError(error)) throw error;
    return { said: error.kind, usage: undefined };
  } finally {
    await provider.close?.();
  }
}

describe('native provider and bridge read the same stream equally', () => {
  it.each(ANSWERS)('reads a stream of $vendor equally: $name', async (one) => {
    row = one;
    const own = await read(createOwn(one.vendor));
    expect(own.said).toBe(one.expected);
    const bridged = await read(createBridged(one.vendor));
    if (DIFFERENT[`${one.vendor} ${one.name}`] === undefined) expect(bridged).toEqual(own);
    else expect(bridged.said).toBe('failed');
  });
});
