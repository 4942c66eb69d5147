import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure, type Call, toMessage } from './api.ts';
import { useApp } from './context.ts';

/** Reads one address of the API. */
export type Get = <T>(path: string) => Promise<T>;

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: string | undefined;
  /** The status of the error response. */
  readonly status: number | undefined;
  /** Loads again; the old data stays visible until the response arrives. */
  readonly reload: () => void;
}

interface State<T> {
  readonly key: string;
  readonly data?: T;
  readonly error?: unknown;
}

/** Loads data, and loads it again when `key` changes. Drops a late response to an older key. */
export function useLoad<T>(key: string, load: (get: Get, signal: AbortSignal) => Promise<T>): Loaded<T> {
  const { call } = useApp();
  const [state, setState] = useState<State<T>>({ key });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    const get: Get = (path) => call('GET', path, undefined, leaving.signal);
    load(get, leaving.signal).then(
      (data) => {
        if (!leaving.signal.aborted) setState({ key, data });
      },
      (error: unknown) => {
        if (!leaving.signal.aborted) setState({ key, error });
      },
    );
    return () => leaving.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  const { data, error } = state.key === key ? state : { data: undefined, error: undefined };
  return {
    data,
    error: error === undefined ? undefined : toMessage(error),
    status: error instanceof ApiFailure ? error.status : undefined,
    reload,
  };
}

/** A task of the user. */
type Task = (call: Call) => Promise<unknown>;

/** Keeps the message of the last failure. */
function useAttempt(): {
  readonly error: string | undefined;
  readonly attempt: (work: Task) => Promise<boolean>;
} {
  const { call } = useApp();
  const [error, setError] = useState<string>();
  const attempt = async (work: Task): Promise<boolean> => {
    setError(undefined);
    try {
      await work(call);
      return true;
    } catch (failure) {
      setError(toMessage(failure));
      return false;
    }
  };
  return { error, attempt };
}

export interface Action {
  readonly busy: boolean;
  readonly error: string | undefined;
  /** Runs one task at a time. @returns whether it succeeded. */
  readonly run: (work: Task) => Promise<boolean>;
}

export function useAction(): Action {
  const { error, attempt } = useAttempt();
  const [busy, setBusy] = useState(false);
  const run = async (work: Task): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    const isDone = await attempt(work);
    setBusy(false);
    return isDone;
  };
  return { busy, error, run };
}

export interface SerialAction {
  readonly error: string | undefined;
  /** Runs tasks one after the other, in the order of the calls. @returns whether this one succeeded. */
  readonly runInTurn: (work: Task) => Promise<boolean>;
}

/** For controls that stay usable while an earlier task runs. */
export function useSerialAction(): SerialAction {
  const { error, attempt } = useAttempt();
  const last = useRef(Promise.resolve(true));
  const runInTurn: SerialAction['runInTurn'] = (work) => {
    last.current = last.current.then(() => attempt(work));
    return last.current;
  };
  return { error, runInTurn };
}

export interface Saved<V> {
  /** The last choice of the user; the stored value if it was rejected. */
  readonly shown: V;
  /** Shows what the user types. It is not saved yet. */
  readonly show: (value: V) => void;
  readonly choose: (value: V) => void;
}

/**
 * A value that is saved when the user chooses it, also while an earlier choice is being saved.
 * @param save runs in turn with other saves. Returns whether it succeeded.
 */
export function useSaved<V>(stored: V, save: (value: V) => Promise<boolean>): Saved<V> {
  const [shown, setShown] = useState(stored);
  const known = useRef(stored);
  const open = useRef(0);
  useEffect(() => {
    known.current = stored;
    // An answer to an earlier choice does not replace the last one.
    if (open.current === 0) setShown(stored);
  }, [stored]);
  const choose = async (value: V): Promise<void> => {
    setShown(value);
    open.current += 1;
    const isSaved = await save(value);
    open.current -= 1;
    if (isSaved) known.current = value;
    else if (open.current === 0) setShown(known.current);
  };
  return { shown, show: setShown, choose: (value) => void choose(value) };
}

/** The current route: what follows the `#`. */
export function usePlace(): readonly string[] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decoded);
}

/** The address may be malformed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function go(...place: readonly string[]): void {
  location.hash = `#/${place.map(encodeURIComponent).join('/')}`;
  // The browser's own event comes later, after a render of the old place.
  dispatchEvent(new Event('hashchange'));
}

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = (): void => setMatches(media.matches);
    media.addEventListener('change', changed);
    changed();
    return () => media.removeEventListener('change', changed);
  }, [query]);
  return matches;
}

/** Reports once when an element comes near the visible part of the page. */
export function useSeen<E extends Element>() {
  const ref = useRef<E>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (ref.current === null || isSeen) return;
    const watcher = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: '400px' },
    );
    watcher.observe(ref.current);
    return () => watcher.disconnect();
  }, [isSeen]);
  return { ref, isSeen };
}
