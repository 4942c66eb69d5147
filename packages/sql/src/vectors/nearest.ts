import { cosine } from '@questline/core/ports';

interface Near {
  readonly id: string;
  readonly score: number;
}

/** Collects the nearest chunks: nearest first, ties by id. */
export interface Best {
  see(id: string, direction: Float32Array): void;
  readonly found: readonly Near[];
}

export function createBest(wanted: Float32Array, limit: number, minScore: number): Best {
  const found: Near[] = [];
  return {
    found,
    see(id, direction) {
      const score = cosine(direction, wanted);
      if (score < minScore) return;
      const last = found.at(-1);
      if (found.length >= limit && last !== undefined && !isBefore(score, id, last)) return;
      let place = found.length;
      while (place > 0 && isBefore(score, id, found[place - 1] as Near)) place -= 1;
      found.splice(place, 0, { id, score });
      if (found.length > limit) found.pop();
    },
  };
}

function isBefore(score: number, id: string, other: Near): boolean {
  return score > other.score || (score === other.score && id < other.id);
}
