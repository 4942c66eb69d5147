import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { CERTIFICATE } from '../../smtp/test/certificate.ts';
import { LOGIN, mailServer } from '../../smtp/test/mail-server.ts';
import { emptyFolder, outcome, questline, startLines } from './command.ts';
import { post, signUp } from './newcomer.ts';

// Every test starts processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const ADDRESS = 'ada@example.com';

describe('sign-in code by mail', () => {
  it('appears in the terminal without mail settings and creates the first account as an administrator', async () => {
    const running = questline(['start', '--port', '0']);
    const { url } = await startLines(running);
    expect((await signUp(running, url, ADDRESS)).user?.isAdmin).toBe(true);
  });

  it('is sent encrypted in the name of the app with mail settings, and appears nowhere else', async () => {
    const server = await mailServer({ login: true });
    const cwd = emptyFolder();
    const authority = join(cwd, 'authority.pem');
    writeFileSync(authority, CERTIFICATE);
    const env = {
      PORT: '0',
      APP_NAME: 'Ada & Co',
      MAIL_HOST: 'localhost',
      MAIL_PORT: String(server.port),
      MAIL_USERNAME: LOGIN.username,
      MAIL_PASSWORD: LOGIN.password,
      MAIL_FROM: 'Desk <desk@example.com>',
      NODE_EXTRA_CA_CERTS: authority,
    };
    const running = questline(['start'], { cwd, env });
    const { url } = await startLines(running);
    await post(url, '/api/otc/send', { email: ADDRESS });
    const [arrived] = server.arrived;
    expect(arrived).toMatchObject({
      to: [ADDRESS],
      user: LOGIN.username,
      secure: true,
      mail: { from: { name: 'Desk', address: 'desk@example.com' } },
    });
    const code = /Your code for Ada & Co is (\d{6})/.exec(arrived?.mail.text ?? '')?.[1];
    expect(code).toBeDefined();
    await running.until(/"path":"\/api\/otc\/send","operation":"sendSignInCode","status":200/);
    for (const hidden of [code ?? '', LOGIN.password]) expect(running.output()).not.toContain(hidden);
  });

  it('is sent from the public address by default', async () => {
    const server = await mailServer();
    const env = {
      PORT: '0',
      PUBLIC_URL: 'https://ai.example.org',
      MAIL_HOST: '127.0.0.1',
      MAIL_PORT: String(server.port),
    };
    const { url } = await startLines(questline(['start'], { env }));
    await post(url, '/api/otc/send', { email: ADDRESS });
    expect(server.arrived[0]?.mail.from).toEqual({ name: 'Questline', address: 'no-reply@ai.example.org' });
  });
});

describe('startup with an unusable mail server', () => {
  async function refused(env: Readonly<Record<string, string>>): Promise<string> {
    const cwd = emptyFolder();
    const { code, stdout, stderr } = await outcome(['start'], { cwd, env: { PORT: '0', ...env } });
    expect({ code, stdout, left: readdirSync(cwd) }).toEqual({ code: 1, stdout: '', left: [] });
    expect(stderr).not.toContain(LOGIN.password);
    return stderr;
  }

  it('stops without changes when the server is unreachable', async () => {
    const server = await mailServer();
    await server.close();
    expect(await refused({ MAIL_HOST: '127.0.0.1', MAIL_PORT: String(server.port) })).toBe(
      'questline: MAIL_HOST: the mail server cannot be reached (ECONNREFUSED)\n',
    );
  });

  it('stops without changes when the password is wrong', async () => {
    const { port } = await mailServer({ login: true });
    const env = { MAIL_HOST: '127.0.0.1', MAIL_PORT: String(port), MAIL_USERNAME: LOGIN.username };
    expect(await refused({ ...env, MAIL_PASSWORD: 'another' })).toBe(
      'questline: MAIL_PASSWORD: the mail server refuses the user or the password (535)\n',
    );
  });
});
