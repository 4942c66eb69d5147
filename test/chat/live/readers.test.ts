import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { followEvents, openFrames, readFrames } from '../../support/live-events.ts';
import type { ServerProcess } from '../../support/server-process.ts';
import { type Host, MEMORY, openHost, SHARED_ENGINES } from './host.ts';

/** Readers of one quest, spread over three processes. `npm run soak:events` sets 10,000. */
const READERS = Number(process.env.QUESTLINE_EVENT_READERS ?? 500);
const PROCESSES = 3;
const TIMEOUT_MS = 600_000;
/** Long enough for all readers to connect. */
const ANSWER = { steps: 60, pauseMs: 50 + READERS / 10 };
const MAX_BUFFERED = 2 ** 20;
/** Memory of a process per reader, connection included. Bytes. */
const MAX_PER_READER = 128 * 1024;

let host: Host | undefined;
afterEach(async () => {
  await host?.close();
  host = undefined;
}, TIMEOUT_MS);

describe.each(SHARED_ENGINES)('events with many readers on $name', (engine) => {
  it(`are the same for ${READERS} readers at ${PROCESSES} processes, in bounded memory`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    host = await openHost(engine, { answer: ANSWER });
    const { key, quests } = host;
    const processes: ServerProcess[] = [];
    for (let at = 0; at < PROCESSES; at += 1) processes.push(await host.startProcess());
    const id = await host.ask();
    const memory = watchMemory(processes.map(({ child }) => child.pid ?? 0));
    const all = await Promise.all(
      Array.from({ length: READERS }, (_, at) =>
        followEvents({ url: `${processes[at % PROCESSES]?.url}/api/v1/quests/${id}/events`, key }),
      ),
    );
    const perReader = (memory.stop() * PROCESSES) / READERS;
    console.info(`${engine.name}: ${READERS} readers, ${Math.round(perReader / 1024)} KiB of a process each`);
    const quest = await quests.get(id);
    expect(quest).toMatchObject({ status: 'done', type: 'message' });
    expect(new Set(all.map(({ text }) => text))).toEqual(new Set([quest?.text]));
    for (const { ids } of all) expect(new Set(ids).size).toBe(ids.length);
    expect(host.countCalls()).toBe(1);
    expect(await host.countCharges()).toBe(1);
    if (READERS >= 1000) expect(perReader).toBeLessThan(MAX_PER_READER);
  });
});

describe('readers that stall', () => {
  it('hold at most 1 MiB each, do not delay others, and get the exact text when they continue', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const stalled: ServerResponse[] = [];
    // More than the buffers of the operating system hold.
    const answer = { steps: 200, pauseMs: 2, padding: 65_536 };
    host = await openHost(MEMORY, {
      answer,
      onResponse({ headers }, response) {
        if (headers['x-stalls'] !== undefined) stalled.push(response);
      },
    });
    const { url, key, quests } = host;
    const id = await host.ask();
    const path = `/api/v1/quests/${id}/events`;
    const sockets = [stall(url, path, key), stall(url, path, key), stall(url, path, key)];
    while (stalled.length < sockets.length) await pause(10);
    // A snapshot has the whole text: these readers have theirs before there is any, because a later reader has it.
    await readFrames(await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } }), 1);
    await host.startWorker();
    let largest = 0;
    const measuring = setInterval(() => {
      largest = Math.max(largest, ...stalled.map(({ writableLength }) => writableLength));
    }, 5);
    const healthy = await followEvents({ url: `${url}${path}`, key });
    clearInterval(measuring);
    const text = (await quests.get(id))?.text;
    expect(healthy.text).toBe(text);
    for (const { writableEnded, writableLength } of stalled) {
      expect(writableEnded).toBe(false);
      expect(writableLength).toBeGreaterThan(0);
    }
    expect(largest).toBeLessThanOrEqual(MAX_BUFFERED);
    console.info(`a reader that stalls holds at most ${Math.round(largest / 1024)} KiB`);
    const [first, ...others] = sockets;
    for (const socket of others) socket.destroy();
    expect(await readOn(first)).toBe(text);
  });

  it('are no burden when they have never read and disconnect', { timeout: TIMEOUT_MS }, async () => {
    host = await openHost(MEMORY, { answer: { steps: 50, pauseMs: 5 } });
    const id = await host.ask();
    const sockets = Array.from({ length: 20 }, () =>
      stall(host?.url ?? '', `/api/v1/quests/${id}/events`, host?.key ?? ''),
    );
    await host.startWorker();
    const { key, url } = host;
    const reading = followEvents({ url: `${url}/api/v1/quests/${id}/events`, key });
    for (const socket of sockets) socket.destroy();
    expect((await reading).end).toMatchObject({ status: 'done' });
    expect(host.errors).toEqual([]);
  });
});

/** Sends a request and reads nothing. */
function stall(url: string, path: string, key: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: questline\r\nAuthorization: Bearer ${key}\r\nX-Stalls: 1\r\n\r\n`,
  );
  return socket;
}

/** Reads a paused response to its end. @returns the joined text. */
async function readOn(socket: Socket | undefined): Promise<string> {
  const chunks: Buffer[] = [];
  // The last chunk of a chunked body is empty.
  for await (const chunk of socket ?? []) {
    chunks.push(chunk as Buffer);
    if ((chunk as Buffer).subarray(-5).toString('latin1') === '0\r\n\r\n') break;
  }
  const response = toResponse(Buffer.concat(chunks));
  const frames = openFrames(response);
  let text = '';
  for (let frame = await frames.next(); frame !== undefined; frame = await frames.next()) {
    if (frame.data.type === 'snapshot' || frame.data.type === 'reset-step') text = frame.data.text;
    else if (frame.data.type === 'text') text += frame.data.text;
  }
  return text;
}

/** Removes the chunked encoding. */
function toResponse(raw: Buffer): Response {
  const parts: Buffer[] = [];
  let at = raw.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const line = raw.indexOf('\r\n', at);
    const size = Number.parseInt(raw.subarray(at, line).toString('latin1'), 16);
    if (!(size > 0)) return new Response(new Uint8Array(Buffer.concat(parts)));
    parts.push(raw.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** Watches the resident memory of processes. `stop` returns the largest growth of one of them in bytes. */
function watchMemory(pids: readonly number[]): { stop(): number } {
  const read = (pid: number): number => {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes ?? 0) * 1024;
  };
  const first = pids.map(read);
  let largest = 0;
  const look = (): void => {
    for (const [at, pid] of pids.entries()) largest = Math.max(largest, read(pid) - (first[at] ?? 0));
  };
  const timer = setInterval(look, 200);
  return {
    stop() {
      clearInterval(timer);
      look();
      return largest;
    },
  };
}
