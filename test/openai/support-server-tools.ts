import type { ModelPart, WebTools } from '@questline/core/ports';
import type { ModelCall } from '../support/model.ts';

export const PAGES = [
  { title: 'Yr', url: 'https://www.yr.no/oslo', snippet: 'Rain.' },
  { title: 'Met', url: 'https://met.no/', snippet: 'Wind.' },
];

/** A web search that finds `PAGES`, and records its queries. */
export function createWebSearch(): { readonly web: WebTools; readonly queries: [string, number][] } {
  const queries: [string, number][] = [];
  return {
    queries,
    web: {
      async search(query, count) {
        queries.push([query, count]);
        return PAGES;
      },
    },
  };
}

/** A web search that answers only when it is aborted, and keeps the reason. */
export function createWaitingSearch(): { readonly web: WebTools; readonly getReason: () => unknown } {
  let reason: unknown;
  return {
    getReason: () => reason,
    web: {
      search: (_query, _count, { signal } = {}) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            reason = signal.reason;
            reject(signal.reason);
          });
        }),
    },
  };
}

export function callSearch(id: string, query: string, name = 'web_search'): ModelPart {
  return { type: 'tool_use', id, name, arguments: JSON.stringify({ query }) };
}

/** Says each list of parts in one round, with a usage of 10 input and 5 output tokens. The last one is repeated. */
export function sayInRounds(...rounds: readonly (readonly ModelPart[])[]): (call: ModelCall) => void {
  let count = 0;
  return (call) => {
    const parts = rounds[Math.min(count, rounds.length - 1)] ?? [];
    count += 1;
    const isCalling = parts.some(({ type }) => type === 'tool_use');
    call.say(...parts);
    call.say({ type: 'usage', usage: { input: 10, output: 5 } });
    call.say({ type: 'finish', reason: isCalling ? 'tool_use' : 'stop' });
    call.end();
  };
}

export const ANSWER: ModelPart = { type: 'text', text: 'It rains, says [Yr](https://www.yr.no/oslo).' };
