import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { frozenCopy } from './json.ts';

describe('frozen copy', () => {
  it('is equal except for undefined values, and shares nothing', () => {
    const original = { a: [1, { b: 'c' }], d: undefined, e: null, f: true };
    const copy = frozenCopy(original);
    expect(copy).toEqual({ a: [1, { b: 'c' }], e: null, f: true });
    expect(copy).not.toHaveProperty('d');
    original.a.push(2);
    expect(copy.a).toHaveLength(2);
    expect(Object.isFrozen(copy) && Object.isFrozen(copy.a) && Object.isFrozen(copy.a[1])).toBe(true);
  });

  it('keeps `__proto__` as an ordinary key', () => {
    const copy = frozenCopy(
      JSON.parse('{"__proto__": {"isAdmin": true}, "a": 1}') as Record<string, unknown>,
    );
    expect(copy.isAdmin).toBeUndefined();
    expect(Object.keys(copy)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"isAdmin":true},"a":1}');
    expect(Object.isFrozen(Object.getOwnPropertyDescriptor(copy, '__proto__')?.value)).toBe(true);
  });

  it('takes plain objects without a prototype, and of another realm', () => {
    const elsewhere: unknown = runInNewContext('({ a: [1, { b: 2 }] })');
    expect(frozenCopy({ elsewhere, none: Object.assign(Object.create(null), { c: 3 }) })).toEqual({
      ...{ elsewhere: { a: [1, { b: 2 }] }, none: { c: 3 } },
    });
  });

  it('rejects objects of classes, whatever they derive from', () => {
    class Point {}
    class Circle extends Point {}
    const withoutParent = Object.create(Object.create(null)) as object;
    const named = { constructor: { value: { name: 'Bare' } } };
    const bare = Object.create(Object.create(null, named)) as object;
    for (const value of [new Point(), new Circle(), runInNewContext('new Date()'), bare])
      expect(() => frozenCopy({ value })).toThrow(/^an? \w+ cannot be stored$/);
    expect(() => frozenCopy({ value: withoutParent })).toThrow(TypeError);
  });

  it('rejects values that are not JSON', () => {
    const none = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1n,
      new Date(),
      new Map(),
      Symbol('a'),
      () => 1,
      [undefined],
    ];
    for (const value of none) expect(() => frozenCopy({ value })).toThrow(TypeError);
  });
});
