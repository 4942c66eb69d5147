import { describe, expect, it } from 'vitest';
import type { ModelInfo } from '../ports/models.ts';
import { describeRetired, refuseRetired } from './retired.ts';

/** A catalogue of retired models and their successors. */
function createRetired(successors: Readonly<Record<string, string | undefined>>) {
  return {
    findRetired: (id: string) =>
      Object.hasOwn(successors, id)
        ? ({ id, deprecationDate: '2026-01-31', replacedBy: successors[id] } as unknown as ModelInfo)
        : undefined,
  };
}

describe('retired model', () => {
  it('names the last successor that is not retired', () => {
    const catalogue = createRetired({ a: 'b', b: 'c', d: undefined, e: 'd' });
    expect(describeRetired(catalogue, 'a')).toBe("model 'a' was retired on 2026-01-31; use 'c'");
    expect(describeRetired(catalogue, 'd')).toBe("model 'd' was retired on 2026-01-31");
    expect(describeRetired(catalogue, 'e')).toBe("model 'e' was retired on 2026-01-31");
    expect(describeRetired(catalogue, 'c')).toBeUndefined();
  });

  it('follows ten successors of lists that name each other', () => {
    let looks = 0;
    const { findRetired } = createRetired({ a: 'b', b: 'a' });
    const catalogue = {
      findRetired(id: string) {
        looks += 1;
        if (looks > 100) throw new Error('endless');
        return findRetired(id);
      },
    };
    expect(describeRetired(catalogue, 'a')).toMatch(/^model 'a' was retired/);
    expect(looks).toBe(11);
    const chain = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`m${at}`, `m${at + 1}`]));
    expect(describeRetired(createRetired(chain), 'm0')).toContain("use 'm11'");
  });

  it('is refused as unavailable', () => {
    const catalogue = createRetired({ a: 'b' });
    expect(() => refuseRetired(catalogue, 'b')).not.toThrow();
    expect(() => refuseRetired(catalogue, 'a')).toThrow(
      expect.objectContaining({
        status: 422,
        code: 'model_unavailable',
        message: "model 'a' was retired on 2026-01-31; use 'b'",
      }),
    );
  });
});
