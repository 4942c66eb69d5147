/** A value with listeners. */
export interface State<T> {
  get(): T;
  set(next: T): void;
  /** Changes some properties. */
  update(changes: Partial<T>): void;
  /** Returns a function that removes the listener. */
  subscribe(listener: () => void): () => void;
}

export function createState<T>(initial: T): State<T> {
  const listeners = new Set<() => void>();
  let current = initial;
  const set = (next: T): void => {
    if (Object.is(next, current)) return;
    current = next;
    for (const listener of listeners) listener();
  };
  return {
    get: () => current,
    set,
    update: (changes) => set({ ...current, ...changes }),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A state that works only while a component shows it. */
export interface Attachable<T> {
  readonly state: Pick<State<T>, 'get' | 'subscribe'>;
  /** Starts or continues the reading. Returns a function that stops it. */
  attach(): () => void;
}
