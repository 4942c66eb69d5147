import type { Mail, Mailer } from '../ports/mailer.ts';

export interface MemoryMailer extends Mailer {
  /** Every mail accepted so far, oldest first. */
  readonly sent: readonly Mail[];
}

/** Keeps mails instead of sending them. */
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
