import { readdir, readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isProviderError, type ModelPart, type ModelProvider, type Usage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';

/** A recorded response: the bytes of an event stream, without HTTP headers. */
export interface Recording {
  /** The folder of its vendor. */
  readonly vendor: string;
  /** Its file name without `.sse`. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The expected result: the content of the `.json` file of the same name. */
  readonly expected: ReplayResult | undefined;
}

/** The result of reading a response. */
export interface ReplayResult {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly usage?: Usage | undefined;
  readonly finish?: string | undefined;
  /** The kind of the error it ended with. */
  readonly error?: string | undefined;
}

export interface ReplaySuiteOptions {
  /** A folder with one folder per vendor, which contains recordings as `*.sse`. */
  readonly folder: string;
  /** By vendor: creates a provider for a base URL. A recording of another vendor fails. */
  readonly providers: Readonly<Record<string, (baseUrl: string) => ModelProvider>>;
  /** Maximum cuts per recording, evenly spread. Default: a cut at every byte. */
  readonly maxCuts?: number;
  /** Per recording. Default 120 s. */
  readonly timeoutMs?: number;
}

/** The recordings of a folder, vendor by vendor, in the order of their names. */
export async function readRecordings(folder: string): Promise<Recording[]> {
  const vendors = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const recordings: Recording[] = [];
  for (const { name: vendor } of vendors) {
    const files = new Set(await readdir(join(folder, vendor)));
    for (const file of [...files].filter((one) => one.endsWith('.sse')).sort()) {
      const name = file.slice(0, -'.sse'.length);
      const json = `${name}.json`;
      const expected = files.has(json)
        ? (JSON.parse(await readFile(join(folder, vendor, json), 'utf8')) as ReplayResult)
        : undefined;
      recordings.push({ vendor, name, bytes: await readFile(join(folder, vendor, file)), expected });
    }
  }
  return recordings;
}

/**
 * Registers a test for each recording of a folder: it reads as its `.json` says, where there is one, and the same however
 * the network cuts it: in two at every byte, and byte by byte.
 */
export async function replaySuite(options: ReplaySuiteOptions): Promise<void> {
  const { folder, providers, maxCuts = Number.POSITIVE_INFINITY, timeoutMs = 120_000 } = options;
  const recordings = await readRecordings(folder);
  describe('recorded answer', () => {
    it('has recordings to replay', () => expect(recordings.length).toBeGreaterThan(0));
    it.each(recordings.map((recording) => [`${recording.vendor}/${recording.name}`, recording] as const))(
      'reads the same wherever the network cuts it: %s',
      { timeout: timeoutMs },
      async (_name, recording) => {
        const createProvider = providers[recording.vendor];
        if (createProvider === undefined)
          throw new Error(`no provider for recordings of ${recording.vendor}`);
        const { whole, different } = await replay(recording, createProvider, maxCuts);
        if (recording.expected !== undefined) expect(whole).toEqual(recording.expected);
        expect(different).toEqual([]);
      },
    );
  });
}

export interface ReplayOutcome {
  readonly whole: ReplayResult;
  /** Places where a cut changed the result, in bytes; -1: sent byte by byte. */
  readonly different: readonly { readonly at: number; readonly result: ReplayResult }[];
}

/** Reads one recording whole, and cut. */
export async function replay(
  { bytes }: Pick<Recording, 'bytes'>,
  createProvider: (baseUrl: string) => ModelProvider,
  maxCuts = Number.POSITIVE_INFINITY,
): Promise<ReplayOutcome> {
  const server = await serve(bytes);
  const provider = createProvider(server.baseUrl);
  try {
    const whole = await readAnswer(provider, 0);
    const step = Math.max(1, Math.ceil((bytes.length - 1) / maxCuts));
    const places = [BYTE_BY_BYTE];
    for (let at = 1; at < bytes.length; at += step) places.push(at);
    const different: { at: number; result: ReplayResult }[] = [];
    const work = async (): Promise<void> => {
      for (let at = places.pop(); at !== undefined; at = places.pop()) {
        const result = await readAnswer(provider, at);
        if (!isDeepStrictEqual(result, whole)) different.push({ at, result });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { whole, different };
  } finally {
    await provider.close?.();
    await server.close();
  }
}

const AT_ONCE = 16;
const BYTE_BY_BYTE = -1;

/** The model name contains the cut position. */
async function readAnswer(provider: ModelProvider, at: number): Promise<ReplayResult> {
  const parts: ModelPart[] = [];
  let error: string | undefined;
  try {
    const stream = await provider.generate(
      {
        model: `replay-${at === BYTE_BY_BYTE ? 'bytes' : at}`,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
        maxTokens: 1000,
      },
      {},
    );
    for await (const chunk of stream) parts.push(...[chunk].flat());
  } catch (thrown) {
    error = isProviderError(thrown) ? thrown.kind : String(thrown);
  }
  return summarize(parts, error);
}

function summarize(parts: readonly ModelPart[], error: string | undefined): ReplayResult {
  const usage = parts.findLast((part) => part.type === 'usage')?.usage;
  const finish = parts.find((part) => part.type === 'finish')?.reason;
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    reasoning: parts.map((part) => (part.type === 'thinking_delta' ? part.text : '')).join(''),
    calls: parts.flatMap((part) =>
      part.type === 'tool_use' ? [{ name: part.name, arguments: JSON.parse(part.arguments) as unknown }] : [],
    ),
    ...(usage !== undefined && { usage }),
    ...(finish !== undefined && { finish }),
    ...(error !== undefined && { error }),
  };
}

async function serve(bytes: Uint8Array): Promise<{ baseUrl: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = /replay-(\d+|bytes)/.exec(`${request.url}${Buffer.concat(chunks).toString('utf8')}`)?.[1];
      const at = asked === 'bytes' ? BYTE_BY_BYTE : Number(asked ?? 0);
      request.socket.setNoDelay(true);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      send(response, bytes, at).catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function send(response: ServerResponse, bytes: Uint8Array, at: number): Promise<void> {
  const size = at === BYTE_BY_BYTE ? 1 : at;
  if (size > 0) {
    const end = at === BYTE_BY_BYTE ? bytes.length : at;
    for (let from = 0; from < end; from += size) {
      response.write(bytes.subarray(from, from + size));
      // Two event loop turns, so that the other side has read the written bytes.
      await turn();
      await turn();
    }
  }
  response.end(at === BYTE_BY_BYTE ? undefined : bytes.subarray(at));
}
