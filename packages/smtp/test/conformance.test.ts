import { mailerSuite, realTime } from '@questline/testing';
import { mailerFor, startMailServer } from './mail-server.ts';

for (const security of ['starttls', 'tls'] as const) {
  mailerSuite({
    name: security,
    async create() {
      const server = await startMailServer({ secure: security === 'tls' });
      return {
        time: realTime(),
        mailer: mailerFor(server.port, { security }),
        received: async () =>
          server.arrived.map(({ to, mail }) => ({
            to: to.join(),
            subject: mail.subject ?? '',
            text: mail.text ?? '',
            html: mail.html ?? '',
          })),
        async refuse() {
          server.refuse = 'message';
        },
        close: server.close,
      };
    },
  });
}
