import { createHmac } from 'node:crypto';
import type { SecretBox } from '../../models/secret-box.ts';
import type { Ids } from '../../ports/ids.ts';
import type { WebhookRecord } from './records.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** Creates a secret in the format of Standard Webhooks: `whsec_` and base64. */
export function createWebhookSecret(ids: Ids): string {
  return `${PREFIX}${Buffer.from(ids.bytes(SECRET_BYTES)).toString('base64')}`;
}

/** Binds an encrypted secret to its webhook. */
export function getSecretPlace(id: string): readonly string[] {
  return ['webhook', id];
}

/**
 * Returns the secrets that sign now, the newest first.
 * @throws Error if the current secret cannot be decrypted, because the key of the workspace has changed.
 */
export function openSecrets(box: SecretBox, webhook: WebhookRecord, now: number): readonly string[] {
  const { id, sealedSecret, previousSecret, previousUntil = 0 } = webhook;
  const current = box.open(sealedSecret, getSecretPlace(id));
  if (current === undefined) throw new Error('the secret of a webhook cannot be decrypted');
  if (previousSecret === undefined || previousUntil <= now) return [current];
  const previous = box.open(previousSecret, getSecretPlace(id));
  return previous === undefined ? [current] : [current, previous];
}

/**
 * Returns the headers of Standard Webhooks. @param now epoch milliseconds.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function sign(
  secrets: readonly string[],
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: number },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'user-agent': 'Questline-Webhooks',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
