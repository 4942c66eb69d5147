import type { HostSession } from '../src/settings.ts';

/** What the server has written into the page. */
export interface Configuration {
  /** From the page to the root of the API. */
  readonly root: string;
  /** Pages whose operations the API leaves out. */
  readonly hidden: readonly string[];
  readonly session?: HostSession;
}

export function readConfiguration(): Configuration {
  const content = document.querySelector('meta[name="questline-console"]')?.getAttribute('content');
  return { root: '.', hidden: [], ...(content ? (JSON.parse(content) as Partial<Configuration>) : {}) };
}
