import { useCallback, useEffect, useState } from 'preact/hooks';
import { messageOf } from './api.ts';

export interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: string | undefined;
  /** Asks again; what is shown stays until the answer is there. */
  readonly reload: () => void;
}

/** What a call answers, asked again whenever `key` changes. A late answer to an older question is dropped. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: string }>({ key });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    load(leaving.signal).then(
      (data) => {
        if (!leaving.signal.aborted) setState({ key, data });
      },
      (error) => {
        if (!leaving.signal.aborted) setState({ key, error: messageOf(error) });
      },
    );
    return () => leaving.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  const isCurrent = state.key === key;
  return { data: isCurrent ? state.data : undefined, error: isCurrent ? state.error : undefined, reload };
}

export interface Action {
  readonly busy: boolean;
  readonly error: string | undefined;
  /** Runs work, one at a time. @returns whether it went well. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    setError(undefined);
    try {
      await work();
      return true;
    } catch (failure) {
      setError(messageOf(failure));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run };
}

/** The place in the app: what follows the `#`. */
export function usePlace(): readonly string[] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => setHash(location.hash);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decoded);
}

/** Anybody may write an address. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function go(...place: readonly string[]): void {
  location.hash = `#/${place.map(encodeURIComponent).join('/')}`;
}
