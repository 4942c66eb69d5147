import type { CallOptions } from './options.ts';

/** One e-mail to one address, as text and as HTML. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Sends e-mail, such as one-time codes. */
export interface Mailer {
  /** Resolves when the mail is accepted for delivery; rejects otherwise. */
  send(mail: Mail, options?: CallOptions): Promise<void>;
}
