import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProviderError } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { CERTIFICATE } from '../../smtp/test/certificate.ts';
import { LOGIN, mailServer } from '../../smtp/test/mail-server.ts';
import { createLog } from '../src/log.ts';
import { emptyFolder, questline, startLines } from './command.ts';

const PROMPT = 'the-prompt-nobody-may-log';

describe('what the server writes', () => {
  it('has no secret in it, but for the demo key in the start lines', async () => {
    const cwd = emptyFolder();
    const marked = {
      JWT_SECRET: 'aa11'.repeat(16),
      OPENAI_API_KEY: 'sk-marked-openai-0123456789',
      MAIL_PASSWORD: LOGIN.password,
    };
    const authority = join(cwd, 'authority.pem');
    writeFileSync(authority, CERTIFICATE);
    const env = {
      PORT: '0',
      MAIL_HOST: 'localhost',
      MAIL_PORT: String((await mailServer({ login: true })).port),
      MAIL_USERNAME: LOGIN.username,
      NODE_EXTRA_CA_CERTS: authority,
      ...marked,
    };
    const running = questline(['start', '--demo'], { cwd, env });
    const { url, key } = await startLines(running);
    const made = readFileSync(join(cwd, 'data', 'secrets.env'), 'utf8').match(/[0-9a-f]{64}/g) ?? [];
    expect(made).toHaveLength(2);

    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJpZCI6Im1hcmtlZCJ9.c2lnbmF0dXJl';
    const foreign = 'svc_live_0123456789abcdefghijklmnopqrstuvwxyzABCDE';
    const ask = (model: string, credential: string, body = JSON.stringify(bodyOf(model))) =>
      fetch(`${url}/api/ai/v1/completions?token=${token}&key=${foreign}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${credential}`, 'content-type': 'application/json' },
        body,
      }).then((answer) => answer.text());
    await ask('demo-echo', key);
    await ask('demo-echo', foreign);
    await ask('demo-echo', token);
    await ask('no-such-model', key);
    await ask('demo-echo', key, `{"model": "${PROMPT}`);
    await fetch(`${url}/api/${foreign}`);
    running.signal('SIGTERM');
    await running.ended;

    const output = running.output();
    for (const secret of [...Object.values(marked), ...made, token, foreign, PROMPT]) {
      expect(output).not.toContain(secret);
    }
    // Shown by itself and in the curl line; logged never.
    expect(output.split(key).length - 1).toBe(2);
    const logged = output.split('\n').filter((line) => line.startsWith('{'));
    const requests = logged
      .filter((line) => line.includes('"msg":"request"'))
      .map((line) => JSON.parse(line));
    expect(requests).toHaveLength(6);
    expect(requests[0]).toMatchObject({
      operation: 'createCompletion',
      status: 200,
      ms: expect.any(Number),
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(logged.join('\n')).not.toContain(key);
  });
});

describe('the log', () => {
  /** The one line that logging this makes. */
  function lineOf(fields: object, secrets: readonly string[] = []): string {
    let text = '';
    const log = createLog({
      secrets,
      destination: {
        write: (line) => {
          text += line;
        },
      },
    });
    log.error(fields, 'failed');
    return text;
  }

  it('leaves out what a provider said, and says who, how and with which status', () => {
    const error = new ProviderError(
      'invalid_request',
      `openai: answered 400: no '${PROMPT}' for sk-live-0123456789`,
    );
    const line = lineOf({ error });
    expect(line).not.toContain(PROMPT);
    expect(JSON.parse(line).error).toMatchObject({
      kind: 'invalid_request',
      provider: 'openai',
      status: 400,
    });
  });

  it('leaves out what a parser quotes, in causes too', () => {
    const broken = attempt(() => JSON.parse(`{"a": ${PROMPT}`));
    const line = lineOf({ error: new Error('the answer could not be read', { cause: broken }) });
    expect(line).not.toContain(PROMPT);
    expect(JSON.parse(line).error).toMatchObject({
      message: 'the answer could not be read',
      cause: { name: 'SyntaxError' },
    });
  });

  it('leaves out what a database quotes beside its message', () => {
    const error = Object.assign(new Error('duplicate key'), { code: '23505', detail: `Key (x)=(${PROMPT})` });
    const line = lineOf({ error });
    expect(line).not.toContain(PROMPT);
    expect(JSON.parse(line).error).toMatchObject({ message: 'duplicate key', code: '23505' });
  });

  it.each([
    ['an API key', 'svc_live_0123456789abcdefghij', 'svc_live_[redacted]'],
    ['a provider key', 'x sk-proj-0123456789abcdef y', 'x [key] y'],
    ['a token', 'eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.c2ln', '[token]'],
    ['a header', 'Authorization: Bearer abc123', 'Authorization: Bearer [redacted]'],
    ['a password in a URL', 'postgres://me:hush@db/x', 'postgres://[redacted]@db/x'],
    ['a secret it was told of', 'got "hush\\hush there', 'got [redacted] there'],
  ])('takes out %s', (_what, text, shown) => {
    const { error } = JSON.parse(lineOf({ error: new Error(text) }, ['"hush\\hush']));
    expect(error.message).toBe(shown);
  });
});

function bodyOf(model: string) {
  return { model, messages: [{ role: 'user', content: PROMPT }] };
}

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
