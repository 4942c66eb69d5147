import type { Mail } from '../ports/mailer.ts';

/** The mail with a code. It has no link: a code is typed where it was asked for. */
export function codeMail(to: string, code: string, appName: string): Mail {
  const lines = [
    `Your code for ${appName} is ${code}.`,
    'It can be used once, within 10 minutes. Never tell it to anybody.',
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand in an HTML mail. */
export function toHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
