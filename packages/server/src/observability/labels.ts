/** The maximum of distinct names; further names share one label. */
const MAX_COUNT = 200;

/** Bounds the number of label values that come from outside, e.g. from a provider's list of models. */
export interface Labels {
  of(name: string | undefined): string;
}

export function createLabels(): Labels {
  const known = new Set<string>();
  return {
    of(name) {
      if (name === undefined) return 'unknown';
      if (known.size < MAX_COUNT) known.add(name);
      return known.has(name) ? name : 'other';
    },
  };
}
