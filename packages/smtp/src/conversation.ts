import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { MailError, toFailure } from './failures.ts';
import type { Security, SmtpOptions } from './options.ts';

/** What may be said once connected, encrypted and signed in. */
export interface Connection {
  send(envelope: { readonly from: string; readonly to: string[] }, message: Buffer): Promise<void>;
}

const TIMEOUT_MS = 15_000;

/**
 * Connects, signs in, runs the work and quits, all within the timeout. In any case, the connection
 * is closed.
 * @throws MailError; the signal's reason when it was aborted.
 */
export async function converse(
  options: SmtpOptions & { readonly security: Security },
  signal: AbortSignal | undefined,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const { username, password, timeoutMs = TIMEOUT_MS } = options;
  const connection = connectionTo(options, timeoutMs);
  let breakOff = (_reason: unknown): void => undefined;
  const broken = new Promise<never>((_, reject) => {
    breakOff = reject;
  });
  connection.on('error', (error) => breakOff(toFailure(error)));
  // A server that leaves in the middle says so only by leaving.
  connection.on('end', () => breakOff(new MailError('unreachable')));
  const onAbort = (): void => breakOff(signal?.reason);
  signal?.addEventListener('abort', onAbort);
  // Its own clock: a mail that takes too long is a matter of the real network.
  const timer = setTimeout(() => breakOff(new MailError('timeout')), timeoutMs);

  const talk = async (): Promise<void> => {
    await step((done) => connection.connect((error) => done(error)));
    if (username !== undefined) {
      const credentials = { user: username, pass: password ?? '' };
      await step((done) => connection.login({ credentials }, (error) => done(error)));
    }
    await work({
      send: (envelope, message) => step((done) => connection.send(envelope, message, (error) => done(error))),
    });
  };
  try {
    await Promise.race([talk(), broken]);
    connection.quit();
  } catch (error) {
    connection.close();
    throw signal?.aborted === true ? signal.reason : toFailure(error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function connectionTo(
  { host, port = 587, security, tls }: SmtpOptions & { readonly security: Security },
  timeoutMs: number,
): SMTPConnection {
  return new SMTPConnection({
    host,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    opportunisticTLS: security === 'offered',
    // With opportunistic encryption, an unverified certificate is no worse than no encryption.
    tls: { ...tls, ...(security === 'offered' && { rejectUnauthorized: false }) },
    // Our own timeout comes first; these close what is still open afterwards.
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    socketCloseTimeout: 1000,
  });
}

function step(run: (done: (error?: unknown) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    run((error) => (error === undefined || error === null ? resolve() : reject(toFailure(error))));
  });
}
