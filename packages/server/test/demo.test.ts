import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePdf } from '../../documents/test/make.ts';
import { hasBrowser, openWindow } from './browser.ts';
import { emptyFolder, launch, questline, type Running, type StartLines, startLines } from './command.ts';

const shell = promisify(execFile);

/** A PNG of one pixel. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('questline start --demo', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'questline-'));
  let running: Running;
  let lines: StartLines;
  beforeAll(async () => {
    running = launch(['start', '--demo'], { cwd, env: { PORT: '0' } });
    lines = await startLines(running);
  });
  afterAll(async () => {
    await running.kill();
    rmSync(cwd, { recursive: true });
  });

  it('starts with a thousand credits', () => {
    expect(running.stdout()).toContain('one account with 1000 credits');
  });

  it('prints a curl command that streams an answer to its end', async () => {
    const { stdout } = await shell('sh', ['-c', lines.curl]);
    const received = stdout.trim().split('\n');
    const events = received
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));
    expect(received.at(-1)).toBe('data: [DONE]');
    expect(events.filter(({ type }) => type === 'content').length).toBeGreaterThan(2);
    expect(events.at(-1)).toMatchObject({
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      credits: { used: expect.any(Number) },
      stopReason: 'stop',
    });
  });

  it('prints the base URL and the key for clients of the OpenAI API', async () => {
    const [, baseURL] = /export OPENAI_BASE_URL=(\S+)/.exec(running.stdout()) ?? [];
    const [, apiKey] = /export OPENAI_API_KEY=(\S+)/.exec(running.stdout()) ?? [];
    expect(baseURL).toBe(`${lines.url}/openai/v1`);
    const client = new OpenAI({ baseURL, apiKey });
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toContain('demo-chat');
    const answer = await client.chat.completions.create({
      model: 'demo-echo',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(answer.choices[0]?.message.content).toContain('Hello');
    const unknown = await fetch(`${lines.url}/openai/.well-known/none`);
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: 'not_found' } });
  });

  it('prints the base URL and the key for clients of the Anthropic API', async () => {
    const [, baseURL] = /export ANTHROPIC_BASE_URL=(\S+)/.exec(running.stdout()) ?? [];
    const [, authToken] = /export ANTHROPIC_AUTH_TOKEN=(\S+)/.exec(running.stdout()) ?? [];
    expect(baseURL).toBe(`${lines.url}/anthropic`);
    const client = new Anthropic({ baseURL: baseURL ?? '', authToken: authToken ?? '' });
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('demo-chat');
    const answer = await client.messages.create({
      model: 'demo-echo',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(answer.content).toMatchObject([{ type: 'text', text: expect.stringContaining('Hello') }]);
    const unknown = await fetch(`${lines.url}/anthropic/.well-known/none`);
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { type: 'not_found_error' } });
  });

  it('prints the command that connects an MCP client', async () => {
    const [, url, header] =
      /mcp add --transport http questline (\S+) --header "(.+)"/.exec(running.stdout()) ?? [];
    expect(url).toBe(`${lines.url}/mcp`);
    const [name = '', value = ''] = header?.split(': ') ?? [];
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(url ?? ''), {
      requestInit: { headers: { [name]: value } },
    });
    // The SDK's own types contradict exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    try {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toContain('ask_agent');
      const answer = await client.callTool({ name: 'ask_agent', arguments: { message: 'Hello' } });
      expect(answer.structuredContent).toMatchObject({ status: 'completed' });
    } finally {
      await client.close();
    }
  });

  it('spends visible credits', async () => {
    const before = await balance(lines);
    const { stdout } = await shell('sh', ['-c', lines.curl]);
    const used = Number(/"used":([\d.]+)/.exec(stdout)?.[1]);
    expect(used).toBeGreaterThan(0);
    expect(await balance(lines)).toBeCloseTo(before - used, 6);
  });

  it('answers a chat without a model name and shows the quest', async () => {
    const { url, key } = lines;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ message: 'Hello', wait: true });
    const answer = await fetch(`${url}/api/chat`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    const reply = (await answer.json()) as { id: string; response: string };
    expect(reply).toMatchObject({
      type: 'message',
      status: 'done',
      response: expect.stringContaining('Hello'),
    });
    const quest = await fetch(`${url}/api/v1/quests/${reply.id}`, { headers });
    expect(await quest.json()).toMatchObject({ status: 'done', reply: reply.response });
  });

  it('makes speech and images without a key, as valid media files', async () => {
    const { url, key } = lines;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const speak = async (format?: string) => {
      const body = JSON.stringify({ text: 'Good morning', format });
      const answer = await fetch(`${url}/api/ai/tts`, { method: 'POST', headers, body });
      expect(answer.status).toBe(200);
      return { type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
    };
    const wave = await speak('wav');
    expect([wave.type, wave.bytes.toString('latin1', 0, 4), wave.bytes.readUInt32LE(4)]).toEqual([
      'audio/wav',
      'RIFF',
      wave.bytes.length - 8,
    ]);
    const mp3 = await speak();
    expect([mp3.type, mp3.bytes.readUInt16BE(0)]).toEqual(['audio/mpeg', 0xfffb]);

    const body = JSON.stringify({ prompt: 'A red panda', model: 'demo-image' });
    const asked = await fetch(`${url}/api/v1/image-generations`, { method: 'POST', headers, body });
    const { id } = (await asked.json()) as { id: string };
    const poll = async () => {
      const answer = await fetch(`${url}/api/v1/quests/${id}`, { headers });
      return (await answer.json()) as { status: string; files: { url: string }[] };
    };
    await expect
      .poll(poll, { timeout: 20_000, interval: 200 })
      .toMatchObject({ status: 'done', type: 'message' });
    const [file] = (await poll()).files;
    const picture = await fetch(new URL(file?.url ?? '', url));
    expect(picture.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await picture.arrayBuffer()).toString('latin1', 1, 4)).toBe('PNG');
  });

  it('makes video and music as jobs, stored as files and charged on completion', async () => {
    const { url, key } = lines;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    interface Job {
      readonly id: string;
      readonly state: string;
      readonly output: { readonly url: string; readonly content_type: string } | null;
      readonly credits: { readonly settled: number | null };
    }
    const make = async (kind: 'video' | 'music', input: object): Promise<Job> => {
      const path = `${url}/api/v1/${kind}-generations`;
      const body = JSON.stringify({ prompt: 'A red panda', ...input });
      const accepted = await fetch(path, { method: 'POST', headers, body });
      expect(accepted.status).toBe(202);
      const { id } = (await accepted.json()) as Job;
      const look = async () => (await (await fetch(`${path}/${id}`, { headers })).json()) as Job;
      await expect
        .poll(look, { timeout: 60_000, interval: 500 })
        .toMatchObject({ state: 'succeeded', output: { availability: 'ready' } });
      return look();
    };
    const toBytes = async ({ output }: Job): Promise<Buffer> => {
      const answer = await fetch(new URL(output?.url ?? '', url));
      expect(answer.headers.get('content-type')).toBe(output?.content_type);
      return Buffer.from(await answer.arrayBuffer());
    };
    const before = await balance(lines);
    const video = await make('video', { model: 'demo-video', duration_seconds: 4 });
    const bytes = await toBytes(video);
    expect([video.output?.content_type, bytes.toString('latin1', 4, 8)]).toEqual(['video/mp4', 'ftyp']);
    const tune = await make('music', { model: 'demo-music', duration_seconds: 3, format: 'wav' });
    const sound = await toBytes(tune);
    expect([tune.output?.content_type, sound.toString('latin1', 0, 4), sound.length]).toEqual([
      'audio/wav',
      'RIFF',
      44 + 3 * 48_000,
    ]);
    const paid = (video.credits.settled ?? 0) + (tune.credits.settled ?? 0);
    expect(paid).toBeGreaterThan(0);
    expect(await balance(lines)).toBeCloseTo(before - paid, 6);
    if (hasBrowser()) expect(await playedBy(bytes)).toEqual({ width: 64, height: 36, seconds: 4 });
  }, 180_000);

  it('accepts an image and a PDF, sends them to the model and describes them', async () => {
    const { url, key } = lines;
    const curl = async (...args: string[]) =>
      (await shell('curl', ['--silent', '--show-error', ...args])).stdout;
    const json = ['-H', `Authorization: Bearer ${key}`, '-H', 'Content-Type: application/json'];
    const upload = async (name: string, mimeType: string, bytes: Uint8Array): Promise<string> => {
      const path = join(cwd, name);
      writeFileSync(path, bytes);
      const announced = { file_name: name, mime_type: mimeType, file_size: bytes.length };
      const { id, upload_url } = JSON.parse(
        await curl(`${url}/api/v1/files`, ...json, '-d', JSON.stringify(announced)),
      ) as { id: string; upload_url: string };
      const type = ['-H', `Content-Type: ${mimeType}`];
      await curl('--fail', '-X', 'PUT', upload_url, ...type, '--data-binary', `@${path}`);
      let status = '';
      while (status !== 'clean') {
        await pause(500);
        ({ moderation_status: status } = JSON.parse(await curl(`${url}/api/v1/files/${id}`, ...json)) as {
          moderation_status: string;
        });
        expect(status).not.toBe('blocked');
      }
      return id;
    };
    const bytes = Buffer.from(PICTURE, 'base64');
    const picture = await upload('picture.png', 'image/png', bytes);
    const pages = ['The first page', 'and the second'];
    const letter = await upload('letter.pdf', 'application/pdf', makePdf(pages));
    const sound = await upload('sound.wav', 'audio/wav', Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'));

    const question = { message: 'What is this?', fileIds: [picture, letter, sound], wait: true };
    const answer = JSON.parse(await curl(`${url}/api/chat`, ...json, '-d', JSON.stringify(question)));
    expect(answer.response).toContain(`an image (image/png, ${bytes.length} bytes)`);
    const length = pages.join('\n\n').length;
    expect(answer.response).toContain(`letter.pdf (text/plain, ${length} bytes)`);
    const quest = JSON.parse(await curl(`${url}/api/v1/quests/${answer.id}`, ...json));
    expect(quest.attachmentDelivery).toEqual({
      requested: 3,
      delivered: 2,
      fullyDelivered: false,
      dropped: 1,
      droppedIds: [sound],
    });
  });

  it('stores its secrets in a file readable only by the owner and reuses them', async () => {
    const cwd = emptyFolder();
    const first = questline(['start', '--demo', '--port', '0'], { cwd });
    await startLines(first);
    const path = join(cwd, 'data', 'secrets.env');
    const text = readFileSync(path, 'utf8');
    expect(text.match(/^(JWT_SECRET|SESSION_SECRET|SECRET_ENCRYPTION_KEY)=[0-9a-f]{64}$/gm)).toHaveLength(3);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    first.signal('SIGTERM');
    await first.ended;
    await startLines(questline(['start', '--demo', '--port', '0'], { cwd }));
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('answers 404 for unknown paths of the API and all others', async () => {
    const { url } = lines;
    const unknown = await fetch(`${url}/api/nothing`);
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: 'Not found' });
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
  });

  it('reads STORAGE_DIR and a .env file, which environment variables override', async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, '.env'), 'STORAGE_DIR=./from-file\nPORT=1\n');
    await startLines(questline(['start', '--demo'], { cwd, env: { PORT: '0' } }));
    expect(statSync(join(cwd, 'from-file', 'secrets.env')).isFile()).toBe(true);
  });
});

async function balance({ url, key }: StartLines): Promise<number> {
  const answer = await fetch(`${url}/api/v1/credits`, { headers: { authorization: `Bearer ${key}` } });
  const body = (await answer.json()) as { balance: number };
  return body.balance;
}

/** Decodes an image from the middle of a video. Runs in the page. */
const PLAY = `async (data) => {
  const video = document.createElement('video');
  const until = (event) =>
    new Promise((resolve, reject) => {
      video.addEventListener(event, resolve, { once: true });
      video.addEventListener('error', () => reject(new Error(video.error?.message)), { once: true });
    });
  const loaded = until('loadeddata');
  video.muted = true;
  video.src = 'data:video/mp4;base64,' + data;
  await loaded;
  const sought = until('seeked');
  video.currentTime = video.duration / 2;
  await sought;
  return { width: video.videoWidth, height: video.videoHeight, seconds: video.duration };
}`;

/** The properties of a video in a browser. */
async function playedBy(video: Buffer): Promise<unknown> {
  const { page, close } = await openWindow({ width: 400, height: 300 });
  try {
    return await page.evaluate(`(${PLAY})(${JSON.stringify(video.toString('base64'))})`);
  } finally {
    await close();
  }
}
