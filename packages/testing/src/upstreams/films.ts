import { SAMPLE_MP4 } from './media-samples.ts';

/** What becomes of a film that is ordered. */
export interface FilmScript {
  /** Times it is asked about before it ends. Default 1. `Infinity`: it never does. */
  readonly looks?: number;
  /** How it ends. Default `done`. */
  readonly end?: 'done' | 'failed' | 'blocked';
  /** What is delivered. Default: the head of an MP4. */
  readonly data?: Uint8Array;
  /** Where it is, for protocols that tell an address. Default: here. */
  readonly address?: string;
}

/** How far an ordered film is. */
export interface FilmLook {
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'blocked';
  /** 0 to 1. */
  readonly progress: number;
  readonly script: FilmScript;
}

/** The films of one upstream. */
export interface Films {
  /** @returns its id. */
  order(script: FilmScript | undefined): string;
  /** Counts as asking. Undefined: there is no such film. */
  look(id: string): FilmLook | undefined;
  /** Whether there was one. */
  forget(id: string): boolean;
  data(id: string): Uint8Array | undefined;
}

export function createFilms(): Films {
  const films = new Map<string, { readonly script: FilmScript; looks: number }>();
  let count = 0;
  return {
    order(script = {}) {
      count += 1;
      const id = `film-${count}`;
      films.set(id, { script, looks: 0 });
      return id;
    },
    look(id) {
      const film = films.get(id);
      if (film === undefined) return undefined;
      film.looks += 1;
      const { looks = 1, end = 'done' } = film.script;
      if (film.looks > looks) return { state: end, progress: 1, script: film.script };
      const progress = Number.isFinite(looks) ? (film.looks - 1) / looks : 0;
      return { state: film.looks === 1 ? 'waiting' : 'running', progress, script: film.script };
    },
    forget: (id) => films.delete(id),
    data: (id) => (films.has(id) ? (films.get(id)?.script.data ?? SAMPLE_MP4) : undefined),
  };
}
