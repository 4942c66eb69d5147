import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createApi, createServices, toFetchHandler } from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { createSmtpMailer, MailError, type SmtpOptions } from '@questline/smtp';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LOGIN, mailerFor, mailServer } from './mail-server.ts';

const MAIL = { to: 'ada@example.com', subject: 'Hello', text: 'Hello Ada\n', html: '<p>Hello Ada</p>\n' };

/** The error of a rejected mail; it must not contain anything of the dialog. */
async function refusal(port: number, options: Partial<SmtpOptions> = {}): Promise<MailError> {
  const error: unknown = await mailerFor(port, options)
    .send(MAIL)
    .then(
      () => new Error('expected a rejection'),
      (reason: unknown) => reason,
    );
  expect(error).toBeInstanceOf(MailError);
  const shown = JSON.stringify([error, String(error), (error as Error).stack, (error as Error).cause]);
  expect(shown).not.toMatch(/not-to-be-shown|ada@|bm90LXRvLWJlLXNob3du|Hello/);
  return error as MailError;
}

describe('mail over SMTP', () => {
  it.each([
    ['implicit TLS', { secure: true }, 'tls', true],
    ['STARTTLS', {}, 'starttls', true],
    ['STARTTLS because it is offered', {}, 'offered', true],
    ['nothing, where none is offered', { hideSTARTTLS: true }, 'offered', false],
    ['nothing, where none is wanted', {}, 'none', false],
  ] as const)('is sent over %s', async (_, options, security, secure) => {
    const server = await mailServer(options);
    await mailerFor(server.port, { security }).send(MAIL);
    expect(server.arrived).toMatchObject([
      {
        from: 'questline@example.com',
        to: ['ada@example.com'],
        secure,
        mail: { from: { name: 'Questline', address: 'questline@example.com' }, subject: 'Hello' },
      },
    ]);
  });

  it('is encrypted with any certificate where encryption is only offered', async () => {
    const server = await mailServer();
    await mailerFor(server.port, { security: 'offered', tls: {} }).send(MAIL);
    expect(server.arrived).toMatchObject([{ secure: true }]);
  });

  it('contains text and HTML, names no client and requests no automatic reply', async () => {
    const server = await mailServer();
    await mailerFor(server.port).send(MAIL);
    const [{ mail } = { mail: undefined }] = server.arrived;
    expect(mail?.to).toEqual([{ name: '', address: 'ada@example.com' }]);
    expect(mail?.text?.trim()).toBe('Hello Ada');
    expect(mail?.html?.trim()).toBe('<p>Hello Ada</p>');
    const headers = new Map(mail?.headers.map(({ key, value }) => [key, value]));
    expect(headers.get('auto-submitted')).toBe('auto-generated');
    expect(headers.get('message-id')).toMatch(/@example\.com>$/);
    expect([...headers.keys()]).not.toContain('x-mailer');
  });

  it.each(['tls', 'starttls'] as const)('authenticates over %s', async (security) => {
    const server = await mailServer({ login: true, secure: security === 'tls' });
    await mailerFor(server.port, { ...LOGIN, security }).send(MAIL);
    expect(server.arrived).toMatchObject([{ user: LOGIN.username, secure: true }]);
  });

  it('sends to exactly one address and rejects addresses hidden in it', async () => {
    const server = await mailServer();
    const to = 'ada@example.com, mallory@example.com';
    await mailerFor(server.port)
      .send({ ...MAIL, to })
      .catch(() => undefined);
    expect(server.arrived.flatMap((arrived) => arrived.to)).not.toContain('mallory@example.com');
  });

  it('can be checked without sending', async () => {
    const server = await mailServer({ login: true });
    await mailerFor(server.port, LOGIN).check();
    await expect(mailerFor(server.port, { ...LOGIN, password: 'wrong' }).check()).rejects.toMatchObject({
      failure: 'login',
    });
    expect(server.arrived).toEqual([]);
  });
});

describe('SMTP errors give a reason without credentials', () => {
  it('reports a wrong password', async () => {
    const { port } = await mailServer({ login: true });
    const error = await refusal(port, { ...LOGIN, password: 'not-to-be-shown-43' });
    expect(error).toMatchObject({ failure: 'login', code: '535' });
    expect(error.message).toBe('the mail server refuses the user or the password (535)');
  });

  it.each([
    ['sender', '553'],
    ['recipient', '550'],
    ['message', '554'],
  ] as const)('reports a %s', async (failure, code) => {
    const server = await mailServer();
    server.refuse = failure;
    expect(await refusal(server.port)).toMatchObject({ failure, code });
  });

  it('reports an unreachable server', async () => {
    const server = await mailServer();
    await server.close();
    expect(await refusal(server.port)).toMatchObject({ failure: 'unreachable', code: 'ECONNREFUSED' });
    expect(await refusal(25, { host: 'mail.invalid' })).toMatchObject({ failure: 'unreachable' });
  });

  it('reports a plain-text server before sending the password', async () => {
    const server = await mailServer({ disabledCommands: ['STARTTLS'], login: true, allowInsecureAuth: true });
    const error = await refusal(server.port, { ...LOGIN, security: 'starttls' });
    expect(error.failure).toBe('insecure');
  });

  it('reports a server with another identity', async () => {
    const { port } = await mailServer();
    for (const security of ['tls', 'starttls'] as const) {
      const server = security === 'tls' ? await mailServer({ secure: true }) : { port };
      const error = await refusal(server.port, { security, tls: {} });
      expect(error).toMatchObject({ failure: 'insecure', code: expect.stringContaining('CERT') });
    }
  });

  it.each(['before it says a word', 'in the middle'])('reports a server that leaves %s', async (when) => {
    const port = await rawServer((socket) => {
      if (when === 'in the middle') socket.write('220 hello\r\n');
      socket.once('data', () => socket.destroy());
      if (when !== 'in the middle') socket.destroy();
    });
    expect((await refusal(port, { security: 'none' })).failure).toMatch(/unreachable|protocol/);
  });

  it('reports a server of another protocol', async () => {
    const port = await rawServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect((await refusal(port, { security: 'none' })).failure).toMatch(/protocol|unreachable/);
  });
});

describe('timeouts of a slow mail server', () => {
  it.each([
    ['its greeting', ''],
    ['the rest of its greeting', '220-hello\r\n'],
    ['its answer to ours', '220 hello\r\n'],
  ])('stops at the configured timeout for %s', async (_, greeting) => {
    const connected: Socket[] = [];
    const port = await rawServer((socket) => {
      connected.push(socket);
      socket.write(greeting);
    });
    const error = await refusal(port, { security: 'none', timeoutMs: 50 });
    expect(error).toMatchObject({ failure: 'timeout', code: undefined });
    for (const socket of connected) if (!socket.closed) await once(socket, 'close');
  });

  it('stops when the caller aborts', async () => {
    const controller = new AbortController();
    let connected: Socket | undefined;
    const port = await rawServer((socket) => {
      connected = socket;
      controller.abort(new Error('left'));
    });
    const sending = mailerFor(port, { security: 'none' }).send(MAIL, { signal: controller.signal });
    await expect(sending).rejects.toThrow('left');
    if (connected?.closed === false) await once(connected, 'close');
  });
});

describe('encryption of SMTP', () => {
  it.each([
    ['587', { port: 587 }],
    ['any port with a password over a network', { host: 'mail.example.com', ...LOGIN }],
  ])('is required on %s', async (_, options) => {
    const { toSecurity } = await import('../src/options.ts');
    expect(toSecurity({ host: '127.0.0.1', port: 1025, from: 'a@b', ...options })).toBe('starttls');
  });

  it.each([
    ['tls', { port: 465 }],
    ['offered', { port: 1025 }],
    ['offered', { port: 1025, ...LOGIN }],
    ['none', { port: 465, security: 'none' }],
  ] as const)('is %s on %j', async (security, options) => {
    const { toSecurity } = await import('../src/options.ts');
    expect(toSecurity({ host: '127.0.0.1', from: 'a@b', ...options })).toBe(security);
  });
});

it('requires a single sender address', () => {
  for (const from of ['', 'Ada <a@b>', 'a@b,c@d', 'a@b\r\nBcc: c@d'])
    expect(() => createSmtpMailer({ host: 'x', from })).toThrow(RangeError);
});

describe('sign-in by mail', () => {
  it('works with a code sent over STARTTLS, in a mail that names the app and ignores the Host header', async () => {
    const server = await mailServer({ login: true });
    const services = createServices(
      { ...createMemoryPorts(), models: [], mailer: mailerFor(server.port, LOGIN) },
      { jwtSecret: 'a'.repeat(64), appName: 'Ada & Co' },
    );
    const handle = toFetchHandler(createApi(services));
    const post = async (path: string, body: object) => {
      const headers = {
        'Content-Type': 'application/json',
        Host: 'evil.example',
        'X-Forwarded-Host': 'evil.example',
      };
      const request = new Request(`http://evil.example${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await (await handle(request))?.json()) as Record<string, string>;
    };
    const email = 'ada@example.com';
    const { pendingToken } = await post('/api/otc/send', { email });
    const [{ mail, secure } = { mail: undefined, secure: false }] = server.arrived;
    expect(secure).toBe(true);
    const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0];
    expect(mail?.subject).toContain('Ada & Co');
    expect(mail?.html).toContain('Ada &amp; Co');
    expect(`${mail?.text}${mail?.html}${JSON.stringify(mail?.headers)}`).not.toMatch(/evil|https?:/);
    const answer = await post('/api/otc/verify', { email, code, pendingToken, username: 'ada' });
    expect(answer.accessToken).toMatch(/^eyJ/);
  });
});

/** A server that handles every connection with the given function. */
async function rawServer(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
