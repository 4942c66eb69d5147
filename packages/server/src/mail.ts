import type { Mailer } from '@questline/core';
import type { MailError, MailFailure } from '@questline/smtp';
import type { MailConfiguration } from './environment/configuration.ts';
import { Mistake } from './mistake.ts';

export interface MailOptions {
  /** Undefined: codes are shown in the terminal. */
  readonly mail: MailConfiguration | undefined;
  readonly appName: string;
  readonly publicUrl: string;
  readonly print: (text: string) => void;
}

/** So long a mail, and the look at the server before the start, may take. */
const TIMEOUT_MS = 10_000;

/** @throws Mistake naming the variable when the mail server cannot be used as it was set. */
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
    throw error instanceof MailError ? new Mistake([mailFault(error)]) : error;
  }
  return mailer;
}

/** Whose fault it is that mails don't leave, as far as the settings go. */
const VARIABLES: Readonly<Partial<Record<MailFailure, string>>> = {
  insecure: 'MAIL_PORT',
  login: 'MAIL_PASSWORD',
  sender: 'MAIL_FROM',
};

function mailFault({ failure, message }: MailError): string {
  return `${VARIABLES[failure] ?? 'MAIL_HOST'}: ${message}`;
}

/** For who runs it alone: whoever can read the terminal can sign in. */
function createTerminalMailer(print: (text: string) => void): Mailer {
  return {
    async send({ to, text }) {
      const [first = ''] = text.split('\n');
      print(`\n  Mail for ${to}: ${first}\n\n`);
    },
  };
}
