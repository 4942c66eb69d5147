import { getEventListeners } from 'node:events';
import { createSmtpMailer, type SmtpOptions } from '@questline/smtp';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { toFailure } from '../src/failures.ts';
import { toSecurity } from '../src/options.ts';

type Done = (error?: unknown) => void;

const OPTIONS: SmtpOptions = { host: 'mail.example.com', from: 'sender@example.com' };
const MAIL = { to: 'ada@example.com', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' };

type Step = (done: Done, connection: SMTPConnection) => void;

/** Connections of the library whose steps all succeed, except those that are given. */
function stubConnections(others: Partial<Record<'connect' | 'login' | 'send', Step>> = {}) {
  const stub = (name: 'connect' | 'login' | 'send' | 'quit' | 'close') =>
    vi.spyOn(SMTPConnection.prototype, name).mockImplementation(function act(
      this: SMTPConnection,
      ...args: readonly unknown[]
    ) {
      const step: Step =
        (name === 'quit' || name === 'close' ? undefined : others[name]) ?? ((done) => done());
      const done = args.at(-1);
      if (typeof done === 'function') step(done as Done, this);
    });
  const stubs = {
    connect: stub('connect'),
    login: stub('login'),
    send: stub('send'),
    quit: stub('quit'),
    close: stub('close'),
  };
  onTestFinished(() => {
    for (const one of Object.values(stubs)) one.mockRestore();
  });
  return stubs;
}

describe('the connection to the mail server', () => {
  const TIMES = (ms: number) => ({
    connectionTimeout: ms,
    greetingTimeout: ms,
    socketTimeout: ms,
    dnsTimeout: ms,
    socketCloseTimeout: 1000,
  });
  const WAY = { secure: false, requireTLS: false, ignoreTLS: false, opportunisticTLS: false, tls: {} };

  it.each([
    ['by default', {}, { port: 587, requireTLS: true, ...TIMES(15_000) }],
    ['on port 465', { port: 465 }, { port: 465, secure: true, ...TIMES(15_000) }],
    [
      'that may be encrypted',
      { port: 25, tls: { ca: 'own' }, timeoutMs: 70 },
      { port: 25, opportunisticTLS: true, tls: { ca: 'own', rejectUnauthorized: false }, ...TIMES(70) },
    ],
    [
      'that must not be encrypted',
      { security: 'none', tls: { ca: 'own' } },
      { port: 587, ignoreTLS: true, tls: { ca: 'own' }, ...TIMES(15_000) },
    ],
  ] as const)('has its place, its encryption and its limits %s', async (_, options, expected) => {
    const { connect } = stubConnections();
    await createSmtpMailer({ ...OPTIONS, ...options }).check();
    const [connection] = connect.mock.contexts as SMTPConnection[];
    expect(connection?.options).toEqual({ host: 'mail.example.com', ...WAY, ...expected });
  });

  it.each([
    [{}, undefined],
    [{ username: 'ada' }, { user: 'ada', pass: '' }],
    [
      { username: 'ada', password: 'secret' },
      { user: 'ada', pass: 'secret' },
    ],
  ])('signs in with %j as %j', async (login, credentials) => {
    const stubs = stubConnections();
    await createSmtpMailer({ ...OPTIONS, ...login }).check();
    expect(stubs.login.mock.calls.map(([given]) => given)).toEqual(
      credentials === undefined ? [] : [{ credentials }],
    );
    expect(stubs.send).not.toHaveBeenCalled();
  });

  it.each([
    ['quits', {}, [1, 0]],
    ['is closed', { send: (done: Done) => done(new Error('no')) }, [0, 1]],
  ])('%s at the end and leaves no timer and no listener', async (_, steps, expected) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const stubs = stubConnections(steps);
    const { signal } = new AbortController();
    await createSmtpMailer(OPTIONS)
      .send(MAIL, { signal })
      .catch(() => undefined);
    expect([stubs.quit, stubs.close].map(({ mock }) => mock.calls.length)).toEqual(expected);
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('rejects when the server ends it in the middle', async () => {
    const stubs = stubConnections({ send: (_, self) => void self.emit('end') });
    await expect(createSmtpMailer(OPTIONS).send(MAIL)).rejects.toMatchObject({
      failure: 'unreachable',
      code: undefined,
    });
    expect(stubs.close).toHaveBeenCalledOnce();
  });

  it('rejects at the default time limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    stubConnections({ connect: () => undefined });
    const checking = createSmtpMailer(OPTIONS).check();
    const ended = expect(checking).rejects.toMatchObject({ failure: 'timeout' });
    await vi.advanceTimersByTimeAsync(14_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
  });

  it.each(['send', 'check'] as const)('is not opened by %s for a caller who has left', async (name) => {
    const { connect } = stubConnections();
    const mailer = createSmtpMailer(OPTIONS);
    const signal = AbortSignal.abort(new Error('left'));
    const call = name === 'send' ? mailer.send(MAIL, { signal }) : mailer.check({ signal });
    await expect(call).rejects.toThrow('left');
    expect(connect).not.toHaveBeenCalled();
  });
});

it.each([
  ['localhost', 'offered'],
  ['::1', 'offered'],
  ['127.0.0.1', 'offered'],
  ['127.9.9.9', 'offered'],
  ['127.example.com', 'starttls'],
  ['10.0.0.1', 'starttls'],
  ['2001:db8::1', 'starttls'],
])('sends a password to %s with the encryption %s', (host, security) => {
  expect(toSecurity({ ...OPTIONS, host, port: 1025, password: 'secret' })).toBe(security);
});

it.each([
  [{}, 'starttls'],
  [{ port: 1025 }, 'offered'],
])('sends mails without a password and with %j with the encryption %s', (options, security) => {
  expect(toSecurity({ ...OPTIONS, ...options })).toBe(security);
});

it.each([undefined, null, 'text', {}])('reports the error %j as one of the protocol', (error) => {
  expect(toFailure(error)).toMatchObject({ failure: 'protocol', code: undefined });
});
