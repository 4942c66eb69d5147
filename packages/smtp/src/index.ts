export { MailError, type MailFailure } from './failures.ts';
export { createSmtpMailer, type SmtpMailer } from './mailer.ts';
export type { Security, SmtpOptions } from './options.ts';
