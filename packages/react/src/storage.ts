/** A JSON value that survives a reload of the page. */
export interface Memory<T> {
  load(): T | undefined;
  /** Undefined: removes it. */
  save(value: T | undefined): void;
}

/** Uses the `sessionStorage` of the tab. Without one, or without a key, nothing is kept. */
export function createMemory<T>(key: string | undefined): Memory<T> {
  if (key === undefined) return { load: () => undefined, save: () => undefined };
  const name = `questline:${key}`;
  return {
    load() {
      try {
        return JSON.parse(globalThis.sessionStorage.getItem(name) ?? 'null') ?? undefined;
      } catch {
        return undefined;
      }
    },
    save(value) {
      try {
        if (value === undefined) globalThis.sessionStorage.removeItem(name);
        else globalThis.sessionStorage.setItem(name, JSON.stringify(value));
      } catch {
        // A blocked or full storage costs only the continuation after a reload.
      }
    },
  };
}
