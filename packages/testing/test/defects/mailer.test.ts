import type { Mail, Mailer } from '@questline/core';
import { createFakeClock, fakeTime, type MailerSubject, mailerCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

/** A mailer over an outbox that can be told to refuse, sound but for what a defect does to it. */
function defect(
  name: string,
  red: readonly string[],
  spoil: (deliver: (mail: Mail) => Promise<void>) => Mailer['send'],
): Defect<MailerSubject> {
  return {
    name,
    red,
    create: async () => {
      const arrived: Mail[] = [];
      let isRefusing = false;
      const deliver = async (mail: Mail) => {
        if (isRefusing) throw new Error('refused');
        arrived.push(mail);
      };
      return {
        mailer: { send: spoil(deliver) },
        received: async () => arrived,
        refuse: async () => {
          isRefusing = true;
        },
        time: fakeTime(createFakeClock()),
      };
    },
  };
}

defectTests('mailer', mailerCases, [
  defect('is silent about a refusal', ['a mail that was not accepted rejects'], (deliver) => async (mail) => {
    await deliver(mail).catch(() => undefined);
  }),
  defect('loses letters', ['any letters survive the way'], (deliver) => (mail) => {
    const latin = (text: string) => Buffer.from(text, 'latin1').toString('latin1');
    return deliver({ ...mail, subject: latin(mail.subject), text: latin(mail.text), html: latin(mail.html) });
  }),
  defect(
    'writes headers from the subject',
    ['what a mail says cannot write headers or reach other people'],
    (deliver) => async (mail) => {
      const [subject = '', ...lines] = mail.subject.split('\r\n');
      await deliver({ ...mail, subject });
      for (const line of lines) {
        if (line.startsWith('Bcc: ')) await deliver({ ...mail, subject, to: line.slice('Bcc: '.length) });
      }
    },
  ),
  defect('sends only the last of several', ['20 parallel mails arrive, each once'], (deliver) => {
    let waiting: Mail | undefined;
    return async (mail) => {
      waiting = mail;
      await gap();
      if (waiting === mail) await deliver(mail);
    };
  }),
]);
