import type { CallOptions } from './options.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface Mailer {
  /** Resolves when the mail was accepted for delivery; rejects when it was not. */
  send(mail: Mail, options?: CallOptions): Promise<void>;
}
