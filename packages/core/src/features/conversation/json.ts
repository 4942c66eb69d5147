/**
 * Parses the JSON object in a model's text: alone, in a code fence, or between words. @returns undefined when it has none.
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

/** Parses the arguments of a call; some models send none for a tool without input. @returns undefined for invalid JSON. */
export function parseArguments(json: string): unknown {
  if (json.trim() === '') return {};
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
