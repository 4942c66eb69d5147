import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { CASES } from '../../wire/cases/index.ts';
import type { Setup } from '../outcome.ts';

/** The first successful wire case of an operation with another app or request. */
export function derive(
  id: string,
  options: TestAppOptions,
  change: (asked: Partial<Asked>, app: TestApp) => Partial<Asked> | Promise<Partial<Asked>> = (asked) =>
    asked,
): Setup {
  const row = CASES[id]?.find(({ status }) => status < 400);
  const { ask } = row ?? {};
  return {
    ...(row?.caller !== undefined && { caller: row.caller }),
    app: () => ({ ...row?.app?.(), ...options }),
    ask: async (app) => change((typeof ask === 'function' ? await ask(app) : ask) ?? {}, app),
  };
}

/** The first successful wire case with more fields in its body. */
export const withBody = (id: string, more: object, options: TestAppOptions = {}): Setup =>
  derive(id, options, (asked) => ({ ...asked, body: { ...(asked.body as object), ...more } }));
