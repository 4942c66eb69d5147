import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createSmtpMailer, type SmtpMailer, type SmtpOptions } from '@questline/smtp';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';

export const LOGIN = { username: 'questline', password: 'not-to-be-shown-42' };

/** A received mail. */
export interface Arrived {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  /** The TLS version of the connection. */
  readonly secure: boolean;
  readonly mail: Email;
}

export interface MailServer {
  readonly port: number;
  readonly arrived: readonly Arrived[];
  /** The step at which the server rejects. */
  refuse: 'nothing' | 'sender' | 'recipient' | 'message';
  close(): Promise<void>;
}

/** A real SMTP server on loopback, without authentication unless `login` requires the password above. */
export async function startMailServer(
  options: SMTPServerOptions & { readonly login?: boolean } = {},
): Promise<MailServer> {
  const { login = false, ...more } = options;
  const arrived: Arrived[] = [];
  const refused = (code: number) => Object.assign(new Error(`no ${LOGIN.password}`), { responseCode: code });
  const server = new SMTPServer({
    cert: CERTIFICATE,
    key: CERTIFICATE_KEY,
    authOptional: !login,
    ...(!login && { disabledCommands: ['AUTH'] }),
    logger: false,
    disableReverseLookup: true,
    onAuth({ username, password }, _session, done) {
      const isRight = username === LOGIN.username && password === LOGIN.password;
      done(isRight ? null : refused(535), { user: username ?? '' });
    },
    onMailFrom: (_address, _session, done) => done(self.refuse === 'sender' ? refused(553) : null),
    onRcptTo: (_address, _session, done) => done(self.refuse === 'recipient' ? refused(550) : null),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
      stream.on('end', async () => {
        if (self.refuse === 'message') return done(refused(554));
        const { mailFrom, rcptTo } = session.envelope;
        arrived.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: typeof session.user === 'string' ? session.user : undefined,
          secure: session.secure,
          mail: await PostalMime.parse(Buffer.concat(chunks)),
        });
        done();
      });
    },
    ...more,
  });
  // Some tests break connections off on purpose.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const self: MailServer = {
    port: (listening.address() as AddressInfo).port,
    arrived,
    refuse: 'nothing',
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return self;
}

/** A mail server until the test ends. */
export async function mailServer(options?: Parameters<typeof startMailServer>[0]): Promise<MailServer> {
  const server = await startMailServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** A mailer that trusts the certificate above. */
export function mailerFor(port: number, options: Partial<SmtpOptions> = {}): SmtpMailer {
  return createSmtpMailer({
    host: '127.0.0.1',
    port,
    from: 'questline@example.com',
    fromName: 'Questline',
    tls: { ca: CERTIFICATE },
    timeoutMs: 20_000,
    ...options,
  });
}
