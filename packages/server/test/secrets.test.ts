import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { CERTIFICATE } from '../../smtp/test/certificate.ts';
import { LOGIN, mailServer } from '../../smtp/test/mail-server.ts';
import { createLog } from '../src/log.ts';
import { emptyFolder, questline, startLines } from './command.ts';

const PROMPT = 'the-secret-prompt';

describe('output of the server', () => {
  it('contains no secret except the demo key in the startup lines', async () => {
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
    const ask = (model: string, credential: string, body = JSON.stringify(readBody(model))) =>
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
    // Printed separately, in the curl line and in one line for each other wire, and never logged.
    expect(output.split(key).length - 1).toBe(5);
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

describe('server log', () => {
  /** The log line for these fields. */
  function getLine(fields: object, secrets: readonly string[] = []): string {
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

  it('omits the text of a provider and contains its name, kind and status', () => {
    const error = new ProviderError(
      'invalid_request',
      `openai: answered 400: no '${PROMPT}' for sk-live-0123456789`,
    );
    const line = getLine({ error });
    expect(line).not.toContain(PROMPT);
    expect(JSON.parse(line).error).toMatchObject({
      kind: 'invalid_request',
      provider: 'openai',
      status: 400,
    });
  });

  it('contains the code and parameter of a provider unless they are prose', () => {
    const named = { status: 400, code: 'unsupported_value', param: 'messages[0].content' };
    const error = new ProviderError('invalid_request', `openai: answered 400: ${PROMPT}`, named);
    expect(JSON.parse(getLine({ error })).error).toMatchObject(named);
    const prose = { code: `no ${PROMPT}`, param: 'x'.repeat(200) };
    const line = getLine({ error: new ProviderError('invalid_request', 'openai: no', prose) });
    expect(line).not.toContain(PROMPT);
    expect(JSON.parse(line).error).not.toHaveProperty('param');
  });

  it('omits text that a parser quotes, also in causes', () => {
    const broken = attempt(() => JSON.parse(`{"a": ${PROMPT}`));
    const line = getLine({ error: new Error('the answer could not be read', { cause: broken }) });
    expect(line).not.toContain(PROMPT);
    expect(JSON.parse(line).error).toMatchObject({
      message: 'the answer could not be read',
      cause: { name: 'SyntaxError' },
    });
  });

  it('omits values that a database adds to its message', () => {
    const error = Object.assign(new Error('duplicate key'), { code: '23505', detail: `Key (x)=(${PROMPT})` });
    const line = getLine({ error });
    expect(line).not.toContain(PROMPT);
    expect(JSON.parse(line).error).toMatchObject({ message: 'duplicate key', code: '23505' });
  });

  it.each([
    ['an API key', 'svc_live_0123456789abcdefghij', 'svc_live_[redacted]'],
    ['a provider key', 'x sk-proj-0123456789abcdef y', 'x [key] y'],
    ['a token', 'eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.c2ln', '[token]'],
    ['a header', 'Authorization: Bearer abc123', 'Authorization: Bearer [redacted]'],
    ['a password in a URL', 'postgres://me:hush@db/x', 'postgres://[redacted]@db/x'],
    ['a configured secret', 'got "hush\\hush there', 'got [redacted] there'],
  ])('removes %s', (_what, text, shown) => {
    const { error } = JSON.parse(getLine({ error: new Error(text) }, ['"hush\\hush']));
    expect(error.message).toBe(shown);
  });
});

function readBody(model: string) {
  return { model, messages: [{ role: 'user', content: PROMPT }] };
}

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
