import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { forkScript } from './children/fork.ts';

const CHILD = fileURLToPath(new URL('../files/large.child.ts', import.meta.url));
const CHUNK = Buffer.alloc(2 ** 20, 'large ');

export interface LargeOutcome {
  readonly uploaded: number;
  readonly status: string;
  readonly downloaded: number;
  /** Peak memory of the server above its start, in bytes. */
  readonly more: number;
}

/** Uploads a file of this many megabytes to a new server, waits for its check and downloads it. */
export async function sendLargeFile(megabytes: number): Promise<LargeOutcome> {
  const folder = await mkdtemp(join(tmpdir(), 'questline-large-'));
  const child = forkScript(CHILD, [folder]);
  try {
    const [{ url, key }] = (await once(child, 'message')) as [{ url: string; key: string }];
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const size = megabytes * 2 ** 20;
    const announced = await fetch(`${url}/api/v1/files`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ file_name: 'large.txt', mime_type: 'text/plain', file_size: size }),
    });
    const { id, upload_url } = (await announced.json()) as { id: string; upload_url: string };
    const uploaded = await upload(`${url}${upload_url}`, megabytes);
    let file: { moderation_status: string; download_url: string | null };
    do {
      await pause(50);
      file = (await (await fetch(`${url}/api/v1/files/${id}`, { headers })).json()) as typeof file;
    } while (file.moderation_status === 'pending' || file.moderation_status === 'scanning');
    const downloaded = file.download_url === null ? 0 : await download(`${url}${file.download_url}`);
    const reported = once(child, 'message');
    child.send('how much?');
    const [{ more }] = (await reported) as [{ more: number }];
    return { uploaded, status: file.moderation_status, downloaded, more };
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

/** @returns the status. */
function upload(url: string, megabytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'text/plain', 'content-length': megabytes * 2 ** 20 };
    const sent = request(url, { method: 'PUT', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    function* chunks() {
      for (let count = 0; count < megabytes; count += 1) yield CHUNK;
    }
    Readable.from(chunks()).pipe(sent);
  });
}

/** @returns the number of received bytes. */
function download(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(url, (response) => {
      let size = 0;
      response
        .on('data', (chunk: Buffer) => {
          size += chunk.length;
        })
        .on('end', () => resolve(size))
        .on('error', reject);
    });
    asked.on('error', reject).end();
  });
}
