/**
 * A deep copy that nobody can change: safe to keep and to hand out any number of times.
 * Fields set to `undefined` are left out. Throws a `TypeError` for what is no JSON.
 */
export function frozenCopy<T>(value: T): T {
  return copyOf(value) as T;
}

function copyOf(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be stored`);
      // JSON text knows no negative zero.
      return value === 0 ? 0 : value;
    case 'object':
      if (value === null) return null;
      return Object.freeze(Array.isArray(value) ? value.map(copyOf) : copyOfObject(value));
    default:
      throw new TypeError(`a ${typeof value} cannot be stored`);
  }
}

function copyOfObject(value: object): Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null && !isPlainElsewhere(prototype)) {
    throw new TypeError(`a ${value.constructor.name} cannot be stored`);
  }
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const member: unknown = (value as Record<string, unknown>)[key];
    if (member === undefined) continue;
    if (key === '__proto__') {
      Object.defineProperty(copy, key, { value: copyOf(member), enumerable: true });
    } else copy[key] = copyOf(member);
  }
  return copy;
}

/** A plain object of another realm, as test runners make them: its prototype is the root of its own world. */
function isPlainElsewhere(prototype: unknown): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'hasOwnProperty');
}
