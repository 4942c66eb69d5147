import { faulted, type WireCase } from './case.ts';

/** So that the JSON has exactly as many bytes. */
const properties = (bytes: number): object => ({ é: 'x'.repeat(bytes - '{"é":""}'.length - 1) });

export const logAnalyticsEvent: readonly WireCase[] = [
  {
    title: 'keeps it',
    ask: { body: { event: 'opened', properties: { place: 'menu', deep: { a: [1, null] } }, userId: 'x' } },
    status: 204,
    body: '',
    everywhere: true,
  },
  { title: 'keeps one without properties', ask: { body: { event: 'x'.repeat(200) } }, status: 204, body: '' },
  {
    title: 'keeps 16 KB of properties',
    ask: { body: { event: 'opened', properties: properties(16_384) } },
    status: 204,
    body: '',
  },
  {
    title: 'more than 16 KB of them',
    ask: { body: { event: 'opened', properties: properties(16_385) } },
    ...faulted('properties', 'expected at most 16384 bytes of JSON'),
  },
  {
    title: 'an event without a name',
    ask: { body: { event: '' } },
    ...faulted('event', 'expected at least 1 character, got 0 characters of text'),
  },
  {
    title: 'a name that is too long',
    ask: { body: { event: 'x'.repeat(201) } },
    ...faulted('event', 'expected at most 200 characters, got 201 characters of text'),
  },
];
