import type { CallOptions, Mail, Mailer } from '@questline/core/ports';
import MailComposer from 'nodemailer/lib/mail-composer';
import { converse } from './conversation.ts';
import { type SmtpOptions, toSecurity } from './options.ts';

export interface SmtpMailer extends Mailer {
  /**
   * Connects and signs in; sends nothing.
   * @throws MailError
   */
  check(options?: CallOptions): Promise<void>;
}

/**
 * Mails through an SMTP server, one connection each: sign-in codes are few, and a connection kept open is one more thing
 * that can have died. A mail rejects with a `MailError` that holds nothing of the mail, the server's words or the password.
 * @throws RangeError when the options cannot be meant.
 */
export function createSmtpMailer(options: SmtpOptions): SmtpMailer {
  assertAddress(options.from);
  const way = { ...options, security: toSecurity(options) };
  const from = { name: options.fromName ?? '', address: options.from };

  return {
    async send(mail, { signal } = {}) {
      signal?.throwIfAborted();
      const message = await compose(from, mail);
      const envelope = { from: from.address, to: [mail.to] };
      await converse(way, signal, (connection) => connection.send(envelope, message));
    },
    async check({ signal } = {}) {
      signal?.throwIfAborted();
      await converse(way, signal, async () => undefined);
    },
  };
}

/** Composed before connecting: an invalid mail costs no connection. */
function compose(from: { readonly name: string; readonly address: string }, mail: Mail): Promise<Buffer> {
  const { subject, text, html } = mail;
  // The recipient as one address, never as a list to be taken apart.
  const to = { address: mail.to };
  return new MailComposer({
    from,
    to,
    // A line break would begin a header of its own.
    subject: subject.replaceAll(/[\r\n]+/g, ' '),
    text,
    html,
    // Asks auto-responders not to answer: replies are not read.
    headers: { 'Auto-Submitted': 'auto-generated' },
  })
    .compile()
    .build();
}

function assertAddress(from: string): void {
  if (!/^[^\s<>@,;]+@[^\s<>@,;]+$/.test(from)) {
    throw new RangeError('createSmtpMailer: from must be one address, e.g. sender@example.com');
  }
}
