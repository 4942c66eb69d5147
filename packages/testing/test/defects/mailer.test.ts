import type { Mail, Mailer } from '@questline/core/ports';
import { createFakeClock, fakeTime, type MailerSubject, mailerCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

/** A mailer with an outbox that can reject; correct except for its defect. */
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
  defect('ignores a rejected mail', ['rejects when a mail is not accepted'], (deliver) => async (mail) => {
    await deliver(mail).catch(() => undefined);
  }),
  defect('loses characters', ['delivers all Unicode text unchanged'], (deliver) => (mail) => {
    const latin = (text: string) => Buffer.from(text, 'latin1').toString('latin1');
    return deliver({ ...mail, subject: latin(mail.subject), text: latin(mail.text), html: latin(mail.html) });
  }),
  defect(
    'writes headers from the subject',
    ['never lets content write headers or add recipients'],
    (deliver) => async (mail) => {
      const [subject = '', ...lines] = mail.subject.split('\r\n');
      await deliver({ ...mail, subject });
      for (const line of lines) {
        if (line.startsWith('Bcc: ')) await deliver({ ...mail, subject, to: line.slice('Bcc: '.length) });
      }
    },
  ),
  defect('sends only the last of several', ['delivers each of 20 parallel mails once'], (deliver) => {
    let waiting: Mail | undefined;
    return async (mail) => {
      waiting = mail;
      await gap();
      if (waiting === mail) await deliver(mail);
    };
  }),
]);
