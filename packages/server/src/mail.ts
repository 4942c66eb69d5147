import type { Mailer } from '@questline/core/ports';
import type { MailError, MailFailure } from '@questline/smtp';
import { CliError } from './cli-error.ts';
import type { MailConfiguration } from './environment/configuration.ts';

export interface MailOptions {
  /** Undefined: codes are printed in the terminal. */
  readonly mail: MailConfiguration | undefined;
  readonly appName: string;
  readonly publicUrl: string;
  readonly print: (text: string) => void;
}

/** Timeout of one mail, and of the connection check at the start, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** @throws CliError that names the variable when the mail server rejects the settings. */
export async function openMailer({ mail, appName, publicUrl, print }: MailOptions): Promise<Mailer> {
  if (mail === undefined) return createTerminalMailer(print);
  const { createSmtpMailer, MailError } = await import('@questline/smtp');
  const { host, port, username, password } = mail;
  const sender = mail.from ?? { name: undefined, address: `no-reply@${new URL(publicUrl).hostname}` };
  const mailer = createSmtpMailer({
    host,
    port,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    from: sender.address,
    fromName: sender.name ?? appName,
    timeoutMs: TIMEOUT_MS,
  });
  try {
    await mailer.check();
  } catch (error) {
    throw error instanceof MailError ? new CliError([toMailIssue(error)]) : error;
  }
  return mailer;
}

/** Maps a failure to the setting that causes it. */
const VARIABLES: Readonly<Partial<Record<MailFailure, string>>> = {
  insecure: 'MAIL_PORT',
  login: 'MAIL_PASSWORD',
  sender: 'MAIL_FROM',
};

function toMailIssue({ failure, message }: MailError): string {
  return `${VARIABLES[failure] ?? 'MAIL_HOST'}: ${message}`;
}

/** For a single user: access to the terminal is enough to sign in. */
function createTerminalMailer(print: (text: string) => void): Mailer {
  return {
    async send({ to, text }) {
      const [first = ''] = text.split('\n');
      print(`\n  Mail for ${to}: ${first}\n\n`);
    },
  };
}
