import type { lookup } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { guardedLookup } from './guarded-agent.ts';

const OPEN = { address: '192.0.2.7', family: 4 };
const OTHER = { address: '2001:db8::7', family: 6 };
const INNER = { address: '10.0.0.7', family: 4 };

/** What a name with these addresses resolves to. */
function resolve(addresses: readonly object[] | null, all: boolean, failure: Error | null = null): unknown {
  const dns = ((_name: string, _options: object, done: (...given: unknown[]) => void) =>
    done(failure, addresses)) as unknown as typeof lookup;
  let answer: unknown;
  guardedLookup((address) => address !== INNER.address, dns)('example.com', { all }, (...given) => {
    answer = given;
  });
  return answer;
}

describe('look-up of a name', () => {
  const forbidden = [expect.objectContaining({ kind: 'INVALID_INPUT' }), []];

  it.each([
    ['no address', []],
    ['a forbidden address', [INNER]],
    ['a forbidden address behind an open one', [OPEN, INNER]],
    ['a forbidden address before an open one', [INNER, OPEN]],
  ])('is refused with %s', (_title, addresses) => {
    expect(resolve(addresses, true)).toEqual(forbidden);
    expect(resolve(addresses, false)).toEqual(forbidden);
  });

  it('answers all open addresses, or the first', () => {
    expect(resolve([OPEN, OTHER], true)).toEqual([null, [OPEN, OTHER]]);
    expect(resolve([OTHER, OPEN], false)).toEqual([null, OTHER.address, 6]);
  });

  it('asks for all addresses, with the options of the connection', () => {
    let asked: unknown;
    const dns = ((...given: unknown[]) => {
      asked = given.slice(0, 2);
    }) as unknown as typeof lookup;
    guardedLookup(() => true, dns)('example.com', { family: 6, hints: 1, all: false }, () => undefined);
    expect(asked).toEqual(['example.com', { family: 6, hints: 1, all: true }]);
  });

  it('passes on a failure', () => {
    const failure = new Error('not found');
    expect(resolve(null, true, failure)).toEqual([failure, []]);
  });
});
