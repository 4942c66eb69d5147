/**
 * The JSON object in what a model has said: alone, in a fence, or between words. @returns undefined when there is none.
 */
export function jsonIn(said: string): unknown {
  const from = said.indexOf('{');
  const to = said.lastIndexOf('}');
  if (from < 0 || to < from) return undefined;
  try {
    return JSON.parse(said.slice(from, to + 1)) as unknown;
  } catch {
    return undefined;
  }
}
