import type { Mail, Mailer } from '../ports/mailer.ts';

export interface MemoryMailer extends Mailer {
  /** All accepted mails, oldest first. */
  readonly sent: readonly Mail[];
}

/** Creates a mailer that stores mails instead of sending them. */
export function createMemoryMailer(): MemoryMailer {
  const sent: Mail[] = [];
  return {
    sent,
    async send(mail, options) {
      options?.signal?.throwIfAborted();
      sent.push({ ...mail });
    },
  };
}
