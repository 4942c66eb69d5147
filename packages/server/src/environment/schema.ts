import { RETENTION_KINDS } from '@questline/core/internal';
import * as z from 'zod';
import { readAddress } from './address.ts';
import { flag, hex, optionalWhole, parsed, text, url, WEB, whole } from './fields.ts';
import { readNewest, readOrigins, readRetention } from './forms.ts';
import { limitVariables } from './limit-variables.ts';
import { providerVariables } from './provider-variables.ts';
import { storageVariables } from './storage-variables.ts';

/*
 * Every environment variable of the server: its type, its messages, and its line in the help and the documentation. A
 * blank value counts as not set.
 */

const PORTS = { min: 0, max: 65_535 };

const AT_FIRST_START = 'created at the first start';

const workspace = {
  QUESTLINE_SELF_HOST: flag(true, {
    meaning: 'credits off, models of managed runtimes hidden; false: credits are enforced',
  }),
  QUESTLINE_REALTIME: flag(false, { meaning: 'live updates over a WebSocket at /api/realtime' }),
  QUESTLINE_WEBHOOKS_PRIVATE: flag(false, {
    meaning: 'webhooks may call private addresses, such as other services of the host; then every user can',
  }),
  QUESTLINE_RETENTION: parsed(readRetention, 'KIND=DAYS, several of them separated by commas', {
    fallback: 'everything is kept; responses for 30 days, deliveries for 7',
    meaning: `days after which records are deleted: KIND=DAYS, separated by commas; kinds: ${RETENTION_KINDS.join(', ')}`,
  }),
  QUESTLINE_KEEP_NEWEST: parsed(readNewest, 'KIND=NUMBER, several of them separated by commas', {
    fallback: 'any number is kept',
    meaning: `number of newest records to keep, of each session or owner: KIND=NUMBER, separated by commas; kinds: ${RETENTION_KINDS.join(', ')}`,
  }),
  QUESTLINE_CHARGE_ARCHIVE_DAYS: optionalWhole(
    { min: 90, max: 36_500 },
    {
      fallback: 'charges are kept',
      meaning:
        'days after which charges move to charge-archive in the bucket, or else in STORAGE_DIR; their sums stay',
    },
  ),
  QUESTLINE_AUDIT_RETENTION_DAYS: optionalWhole(
    { min: 1, max: 36_500 },
    { fallback: 'kept forever', meaning: 'days for which the audit log keeps entries' },
  ),
  QUESTLINE_ENRICHMENT: flag(false, {
    meaning: 'a model names, summarizes and tags sessions; paid like the turn',
  }),
};

const secrets = {
  JWT_SECRET: hex({ meaning: 'signs access tokens', fallback: AT_FIRST_START }),
  SESSION_SECRET: hex({ meaning: 'signs one-time codes and links', fallback: AT_FIRST_START }),
  SECRET_ENCRYPTION_KEY: hex({
    meaning:
      'encrypts stored provider keys, invite codes and the system prompts of queued requests; must never change after the first start',
    fallback: AT_FIRST_START,
  }),
};

const mail = {
  MAIL_HOST: text({
    meaning: 'SMTP server that sends sign-in codes',
    fallback: 'codes are printed in the terminal',
  }),
  MAIL_PORT: whole(
    { min: 1, max: PORTS.max, fallback: 1025 },
    { meaning: 'SMTP port; 465 uses TLS from the start, 587 requires STARTTLS' },
  ),
  MAIL_USERNAME: text({ meaning: 'user at the SMTP server' }),
  MAIL_PASSWORD: text({ meaning: 'password of that user' }),
  MAIL_FROM: parsed(readAddress, 'sender@example.com or Name <sender@example.com>', {
    meaning: 'sender of mails',
    fallback: 'no-reply at the host of PUBLIC_URL',
  }),
  APP_NAME: z
    .string()
    .regex(/^[^\p{Cc}]{1,100}$/u, 'expected 1 to 100 characters in one line')
    .default('Questline')
    .meta({ meaning: 'name of the service in mails' }),
};

const network = {
  PORT: whole({ ...PORTS, fallback: 3000 }, { meaning: 'port to listen on; 0: the system chooses one' }),
  PUBLIC_URL: url(WEB, {
    fallback: 'http://localhost:PORT',
    meaning: 'address at which clients reach the service',
  }),
  CORS_ORIGINS: parsed(readOrigins, '*, or origins separated by commas, e.g. https://app.example.com', {
    fallback: 'none',
    meaning: 'origins whose pages may call the API from a browser, separated by commas; *: every origin',
  }),
  REQUEST_TIMEOUT_MS: whole(
    { min: 1000, max: 3_600_000, fallback: 60_000 },
    { meaning: 'how long a chat with wait: true waits for its reply before it answers 504' },
  ),
};

export const environmentSchema = z.object({
  ...workspace,
  ...secrets,
  ...providerVariables,
  ...mail,
  ...network,
  ...storageVariables,
  ...limitVariables,
});

/** The value of every variable. */
export type Values = z.output<typeof environmentSchema>;
