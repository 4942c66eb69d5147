import type { Mail } from '../../ports/mailer.ts';
import { toHtml } from '../../shared/html.ts';
import type { WebhookRecord } from './records.ts';

const REASONS = {
  failing: 'it has not accepted any request for 24 hours',
  gone: 'it answered with status 410',
  owner: 'its owner disabled it',
} as const;

/** The notice to the user who created a webhook. Contains its host name, and neither its path nor its secret. */
export function disabledMail(to: string, webhook: WebhookRecord, appName: string): Mail {
  const { host } = new URL(webhook.url);
  const lines = [
    `${appName} does not send events to your webhook at ${host} any more, because ${REASONS[webhook.disabledFor ?? 'failing']}.`,
    `Enable it again when its receiver works, and replay the deliveries that failed. Its id is ${webhook.id}.`,
  ];
  return {
    to,
    subject: `Your webhook at ${host} is disabled`,
    text: `${lines.join('\n\n')}\n`,
    html: [
      '<!doctype html><html lang="en"><body>',
      ...lines.map((line) => `<p>${toHtml(line)}</p>`),
      '</body></html>\n',
    ].join('\n'),
  };
}
