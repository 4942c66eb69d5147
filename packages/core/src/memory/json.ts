/**
 * Returns a frozen deep copy that is safe to store and share. Omits `undefined` fields. Throws a `TypeError` for
 * values that are not JSON.
 */
export function frozenCopy<T>(value: T): T {
  return copyValue(value) as T;
}

function copyValue(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} cannot be stored`);
      // JSON has no negative zero.
      return value === 0 ? 0 : value;
    case 'object':
      if (value === null) return null;
      return Object.freeze(Array.isArray(value) ? value.map(copyValue) : copyOfObject(value));
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
      Object.defineProperty(copy, key, { value: copyValue(member), enumerable: true });
    } else copy[key] = copyValue(member);
  }
  return copy;
}

/** A plain object of another realm, as in test runners: its prototype has no prototype. */
function isPlainElsewhere(prototype: unknown): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'hasOwnProperty');
}
