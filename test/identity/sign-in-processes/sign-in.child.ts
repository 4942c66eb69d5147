import { type Api, createApi, createServices, toFetchHandler } from '@questline/core';
import { createIds, createMemoryMailer, createSystemClock } from '@questline/core/memory';
import { createSqlPorts } from '@questline/sql';
import { connect } from '../../../packages/sql/test/connect.ts';
import type { Answer, Call, Order, Registration } from './protocol.ts';

/** One of several processes on one database: sends the calls of a batch in parallel. */
function serve(address: Order & { readonly kind: 'open' }): void {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const { database, close } = connect(address.address);
  const mailer = createMemoryMailer();
  const ports = createSqlPorts(database, { clock, ids });
  const apiFor = (allowOpenRegistration: boolean): Api => {
    const settings = { jwtSecret: 'a'.repeat(64), admin: { allowOpenRegistration } };
    return createApi(createServices({ ...ports, clock, ids, mailer, models: [] }, settings));
  };
  const handlers: Readonly<Record<Registration, ReturnType<typeof toFetchHandler>>> = {
    open: toFetchHandler(apiFor(true)),
    closed: toFetchHandler(apiFor(false)),
  };

  const answer = async ({ registration, path, body, from }: Call): Promise<Answer> => {
    const request = new Request(`http://questline.test${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const response = await handlers[registration](request, { remoteAddress: from });
    const mail = mailer.sent.findLast(({ to }) => to === body.email);
    const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0];
    return { status: response?.status ?? 0, body: (await response?.json()) as Answer['body'], code };
  };

  process.on('message', async (order: Order) => {
    if (order.kind === 'calls') process.send?.(await Promise.all(order.calls.map(answer)));
    if (order.kind !== 'end') return;
    await close();
    process.disconnect();
  });
  process.send?.('ready');
}

process.once('message', serve);
