/** So many names get a line of their own; the others share one. */
const MOST = 200;

/** Names that come from somewhere else, e.g. from a provider's list of models, kept to a bounded number. */
export interface Labels {
  of(name: string | undefined): string;
}

export function createLabels(): Labels {
  const known = new Set<string>();
  return {
    of(name) {
      if (name === undefined) return 'unknown';
      if (known.size < MOST) known.add(name);
      return known.has(name) ? name : 'other';
    },
  };
}
