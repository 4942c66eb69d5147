import type { Description } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createWire } from '../support/wire.ts';
import { CASES } from '../wire/cases/index.ts';
import { perform, type Setup } from './outcome.ts';
import { getFields } from './places.ts';
import { OPERATIONS } from './walk.ts';

interface Parameter {
  readonly $ref?: string;
}

const wire = await createWire();
const documents = await Promise.all(
  ['/api/v1/openapi.json', '/api/openapi.json'].map(
    async (path) => (await wire.send({ method: 'GET', path })).body as Description,
  ),
);
const described = documents.flatMap(({ paths }) =>
  Object.values(paths).flatMap((place) => Object.values(place)),
);

/** The operations that describe a header. The wire cases send an `X-Request-ID` to every operation. */
const withHeader = (component: string) =>
  OPERATIONS.filter(({ id }) =>
    described
      .find(({ operationId }) => operationId === id)
      ?.parameters?.some(({ $ref }: Parameter) => $ref?.endsWith(`/${component}`)),
  ).map((operation) => [operation.id, operation] as const);

const getSetup = (id: string): Setup => CASES[id]?.find(({ status }) => status < 400) ?? {};

describe('header Idempotency-Key', () => {
  it.each(withHeader('IdempotencyKey'))(
    'repeats the first answer, under its own key only: %s',
    async (id, operation) => {
      const send = async (key: string) => {
        const outcome = await perform(operation, getSetup(id), async (asked, _app, { sendAndWait }) => {
          const first = { ...asked, headers: { ...asked.headers, 'Idempotency-Key': 'one' } };
          await sendAndWait(first);
          return { ...first, headers: { ...first.headers, 'Idempotency-Key': key } };
        });
        await outcome.close();
        return outcome;
      };
      const [same, other] = [await send('one'), await send('two')];
      expect([same.status < 400, other.status < 400]).toEqual([true, true]);
      expect({ ...same.soon, text: same.text }).not.toEqual({ ...other.soon, text: other.text });
    },
  );
});

describe('header Last-Event-ID', () => {
  const streams = OPERATIONS.filter((operation) => getFields(operation).some(({ name }) => name === 'after'));

  it.each(streams.map((operation) => [operation.id, operation] as const))(
    'continues the stream: %s',
    async (id, operation) => {
      const read = async (more: Readonly<Record<string, string>>) => {
        const outcome = await perform(operation, getSetup(id), (asked) => ({
          ...asked,
          headers: { ...asked.headers, ...more },
        }));
        await outcome.close();
        return outcome.soon.answer;
      };
      expect(await read({ 'Last-Event-ID': 'end' })).not.toBe(await read({}));
    },
  );
});
