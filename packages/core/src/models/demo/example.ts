type Schema = Readonly<Record<string, unknown>>;

/** Maximum length of a text, in characters. */
const MAX_LENGTH = 200;

/**
 * Creates a value for a JSON Schema, filled from a text if possible: its numbers in order, its URL, its quotations,
 * or the text itself.
 */
export function makeExample(schema: Schema, text: string): unknown {
  const numbers = (text.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
  const quoted = /["“'‘`]([^"”'’`]+)["”'’`]/.exec(text)?.[1] ?? text;
  const url = /https?:\/\/[^\s"'<>)]+/.exec(text)?.[0] ?? 'https://example.com/';
  return fill(schema, '', 0);

  function fill(part: Schema, name: string, depth: number): unknown {
    if ('const' in part) return part.const;
    if (Array.isArray(part.enum))
      return part.enum.find((value) => text.includes(String(value))) ?? part.enum[0];
    const choice = [part.anyOf, part.oneOf, part.allOf].find(Array.isArray)?.[0];
    if (isSchema(choice) && depth < 8)
      return fill(
        { ...part, anyOf: undefined, oneOf: undefined, allOf: undefined, ...choice },
        name,
        depth + 1,
      );
    switch (Array.isArray(part.type) ? part.type[0] : part.type) {
      case 'string':
        return string(part, name);
      case 'integer':
        return Math.ceil(number(part));
      case 'number':
        return number(part);
      case 'boolean':
        return part.default === true;
      case 'array':
        return array(part, name, depth);
      case 'null':
        return null;
      default:
        return object(part, depth);
    }
  }

  function object(part: Schema, depth: number): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    if (!isSchema(part.properties) || !Array.isArray(part.required) || depth >= 8) return value;
    for (const name of part.required) {
      const property = part.properties[name];
      if (isSchema(property)) value[name] = fill(property, name, depth + 1);
    }
    return value;
  }

  function array(part: Schema, name: string, depth: number): unknown[] {
    const wanted = isSchema(part.items) && depth < 8 ? Math.max(1, toCount(part.minItems, 1)) : 0;
    return Array.from({ length: Math.min(wanted, 16) }, () => fill(part.items as Schema, name, depth + 1));
  }

  function string(part: Schema, name: string): string {
    if (part.format === 'date') return '2026-01-01';
    if (part.format === 'date-time') return '2026-01-01T00:00:00Z';
    if (part.format === 'email') return 'demo@example.com';
    if (part.format === 'uri' || /^(url|uri|link|href)$/i.test(name)) return url;
    const value = [...quoted].slice(0, Math.min(MAX_LENGTH, toCount(part.maxLength, MAX_LENGTH))).join('');
    return value.padEnd(toCount(part.minLength, 0), '.');
  }

  function number(part: Schema): number {
    const wanted = numbers.shift() ?? (typeof part.default === 'number' ? part.default : 1);
    const low = typeof part.minimum === 'number' ? part.minimum : Number.NEGATIVE_INFINITY;
    const high = typeof part.maximum === 'number' ? part.maximum : Number.POSITIVE_INFINITY;
    return Math.min(Math.max(wanted, low), high);
  }
}

function toCount(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
