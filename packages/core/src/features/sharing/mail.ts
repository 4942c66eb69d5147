import type { Mail } from '../../ports/mailer.ts';
import { toHtml } from '../../shared/html.ts';

/** Contains only verified data: the inviter's e-mail address, and no names chosen by users. */
export function inviteMail(
  to: string,
  about: {
    readonly inviter: string;
    /** The kind of the resource. */
    readonly type: string;
    readonly appName: string;
    /** The public URL, as configured by the host. Never taken from a request. */
    readonly publicUrl: string | undefined;
  },
): Mail {
  const { inviter, type, appName, publicUrl } = about;
  const article = /^[aeio]/.test(type) ? 'an' : 'a';
  const where = publicUrl === undefined ? '' : ` at ${publicUrl}`;
  const lines = [
    `${inviter} has invited you to ${article} ${type} in ${appName}.`,
    `Sign in${where} with this address to accept or refuse.`,
    'If you do not know the sender, ignore this mail.',
  ];
  return {
    to,
    subject: `You are invited to ${article} ${type} in ${appName}`,
    text: `${lines.join('\n\n')}\n`,
    html: [
      '<!doctype html><html lang="en"><body>',
      ...lines.map((line) => `<p>${toHtml(line)}</p>`),
      '</body></html>\n',
    ].join('\n'),
  };
}
