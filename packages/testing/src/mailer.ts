import type { Mail, Mailer } from '@questline/core/ports';
import { expect } from 'vitest';
import { aborting, inParallel } from './parallel.ts';
import { type Case, registerSuite, type Subject, type SuiteOptions } from './suite.ts';

export interface MailerSubject extends Subject {
  readonly mailer: Mailer;
  /** The received mails as a reader sees them, oldest first. */
  received(): Promise<readonly Mail[]>;
  /** Makes the receiver reject all further mails. */
  readonly refuse?: () => Promise<void>;
}

export type MailerCase = Case<MailerSubject>;

const mail: Mail = {
  to: 'alice@example.com',
  subject: 'Your code',
  text: 'Your code is 123456.\n',
  html: '<p>Your code is <b>123456</b>.</p>\n',
};

const behaviour: readonly MailerCase[] = [
  {
    name: 'delivers a mail as it was sent',
    section: 'behaviour',
    async run({ mailer, received }) {
      await mailer.send(mail);
      expect((await received()).map(trimmed)).toEqual([trimmed(mail)]);
    },
  },
  {
    name: 'delivers all Unicode text unchanged',
    section: 'behaviour',
    async run({ mailer, received }) {
      const letters = 'caf\u00e9 \u4f60\u597d \u{1f30d} = =20 "quoted" <b>';
      const long = 'word '.repeat(400).trim();
      const odd = {
        ...mail,
        subject: `${letters} ${'long '.repeat(30).trim()}`,
        text: `${letters}\n.\n..dots\n${long}\n`,
        html: `<p>${letters}</p>\n.\n<p>${long}</p>\n`,
      };
      await mailer.send(odd);
      expect((await received()).map(trimmed)).toEqual([trimmed(odd)]);
    },
  },
  {
    name: 'never lets content write headers or add recipients',
    section: 'behaviour',
    async run({ mailer, received }) {
      const forged = { ...mail, subject: 'Hello\r\nBcc: mallory@example.com\r\n\r\nforged' };
      await mailer.send(forged).catch(() => undefined);
      for (const arrived of await received()) {
        expect(arrived.to).toBe(mail.to);
        expect(trimmed(arrived).text).toBe(trimmed(mail).text);
      }
      const before = (await received()).length;
      const many = { ...mail, to: 'alice@example.com\r\nRCPT TO:<mallory@example.com>' };
      await mailer.send(many).catch(() => undefined);
      for (const arrived of (await received()).slice(before))
        expect(arrived.to).not.toBe('mallory@example.com');
    },
  },
  {
    name: 'rejects when a mail is not accepted',
    section: 'behaviour',
    excuse: ({ refuse }) => (refuse === undefined ? 'the other end accepts everything' : undefined),
    async run({ mailer, received, refuse }) {
      await refuse?.();
      await expect(mailer.send(mail)).rejects.toThrow();
      expect(await received()).toEqual([]);
    },
  },
];

const races: readonly MailerCase[] = [
  {
    name: 'delivers each of 20 parallel mails once',
    section: 'race',
    async run({ mailer, received }) {
      await inParallel(20, [mailer], (each, at) => each.send({ ...mail, to: `user-${at}@example.com` }));
      const receivers = (await received()).map(({ to }) => to).sort();
      expect(receivers).toEqual(Array.from({ length: 20 }, (_, at) => `user-${at}@example.com`).sort());
    },
  },
];

const aborts: readonly MailerCase[] = (['before', 'during'] as const).map((when) => ({
  name: `delivers a mail whole or not at all when aborted ${when} the call`,
  section: 'abort',
  async run({ mailer, received }) {
    const attempt = await aborting(when, (signal) => mailer.send(mail, { signal }));
    const arrived = (await received()).map(trimmed);
    if (attempt.isDone) expect(arrived).toEqual([trimmed(mail)]);
    expect([[], [trimmed(mail)]]).toContainEqual(arrived);
    await mailer.send({ ...mail, subject: 'Next' });
    expect((await received()).at(-1)?.subject).toBe('Next');
  },
}));

/** The cases of every mailer. */
export const mailerCases: readonly MailerCase[] = [...behaviour, ...races, ...aborts];

/** Registers the conformance suite of `Mailer` as tests. */
export function mailerSuite(options: SuiteOptions<MailerSubject>): void {
  registerSuite('mailer', mailerCases, options);
}

/** Mail lines end with CR LF, and there may be one more at the end: ignore both. */
function trimmed(given: Mail): Mail {
  const lines = (text: string) => text.replaceAll('\r\n', '\n').trimEnd();
  return { to: given.to, subject: given.subject, text: lines(given.text), html: lines(given.html) };
}
