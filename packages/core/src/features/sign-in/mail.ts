import type { Mail } from '../../ports/mailer.ts';
import { toHtml } from '../../shared/html.ts';

/** The mail with a code. It contains no link: the user enters the code. */
export function codeMail(to: string, code: string, appName: string): Mail {
  const lines = [
    `Your code for ${appName} is ${code}.`,
    'It can be used once, within 10 minutes. Do not share it.',
    'If you did not ask for it, ignore this mail.',
  ] as const;
  const [, use, ignore] = lines;
  return {
    to,
    subject: `${code} is your code for ${appName}`,
    text: `${lines.join('\n\n')}\n`,
    html: [
      '<!doctype html><html lang="en"><body>',
      `<p>Your code for ${toHtml(appName)} is</p>`,
      `<p style="font-size:2em;letter-spacing:.2em"><strong>${code}</strong></p>`,
      `<p>${use}</p><p>${ignore}</p>`,
      '</body></html>\n',
    ].join('\n'),
  };
}
