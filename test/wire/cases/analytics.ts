import { faulted, type WireCase } from './case.ts';

/** Properties whose JSON has exactly this many bytes. */
const properties = (bytes: number): object => ({ é: 'x'.repeat(bytes - '{"é":""}'.length - 1) });

export const logAnalyticsEvent: readonly WireCase[] = [
  {
    title: 'stores an event',
    ask: { body: { event: 'opened', properties: { place: 'menu', deep: { a: [1, null] } }, userId: 'x' } },
    status: 204,
    body: '',
    everywhere: true,
  },
  {
    title: 'stores an event without properties',
    ask: { body: { event: 'x'.repeat(200) } },
    status: 204,
    body: '',
  },
  {
    title: 'stores 16 KB of properties',
    ask: { body: { event: 'opened', properties: properties(16_384) } },
    status: 204,
    body: '',
  },
  {
    title: 'rejects more than 16 KB of properties',
    ask: { body: { event: 'opened', properties: properties(16_385) } },
    ...faulted('properties', 'expected at most 16384 bytes of JSON'),
  },
  {
    title: 'rejects an event without a name',
    ask: { body: { event: '' } },
    ...faulted('event', 'expected at least 1 character, got 0 characters of text'),
  },
  {
    title: 'rejects a name that is too long',
    ask: { body: { event: 'x'.repeat(201) } },
    ...faulted('event', 'expected at most 200 characters, got 201 characters of text'),
  },
];
