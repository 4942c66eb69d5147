import { hammer, type Scenario } from './hammer.ts';
import { complete, type Load } from './load.ts';
import type { Measured } from './process.ts';

/** CPU per request of one scenario, measured in two checkouts. */
export interface Comparison {
  readonly name: string;
  /** The server, in `bench/support`. */
  readonly file: string;
  readonly environment: Record<string, string>;
  /** Called once per server. @returns a function that sends the load. */
  prepare(server: Measured): Promise<(load: Load) => Promise<unknown>>;
  /** Requests before the first measurement, so that all code is compiled. */
  readonly warm: Load;
  /** Requests of one measurement. Short, so that both of a pair meet the same state of the machine. */
  readonly load: Load;
  /** Default: the number of the benchmark. */
  readonly pairs?: number;
}

const CHAT = JSON.stringify({ message: 'Tell me a short story about a lighthouse keeper and a storm.' });

const acknowledge: Scenario = async (ask) => {
  await ask('POST', '/api/chat', CHAT);
};

async function preparePoll({ url }: Measured): Promise<Scenario> {
  let path = '';
  await hammer(url, { requests: 1, concurrency: 1 }, async (ask) => {
    const { id } = JSON.parse(await ask('POST', '/api/chat', CHAT)) as { id: string };
    path = `/api/v1/quests/${id}`;
  });
  return async (ask) => {
    await ask('GET', path);
  };
}

const chat = (
  name: string,
  environment: Record<string, string>,
  prepare: (server: Measured) => Promise<Scenario>,
): Comparison => ({
  name,
  file: 'servers/questline-chat.ts',
  environment,
  async prepare(server) {
    const scenario = await prepare(server);
    return (some) => hammer(server.url, some, scenario);
  },
  warm: { requests: 20_000, concurrency: 20 },
  load: { requests: 400, concurrency: 20 },
});

export const WARM: Load = { requests: 12_000, concurrency: 20 };
const BURST: Load = { requests: 200, concurrency: 20 };

/** @param upstream the address of the model provider. */
export function createComparisons(upstream: string): readonly Comparison[] {
  const completions = (name: string, file: string, script: string, warm: Load, load: Load): Comparison => ({
    name,
    file: `servers/${file}.ts`,
    environment: { UPSTREAM: `${upstream}/${script}/v1` },
    prepare:
      async ({ url }) =>
      (some) =>
        complete(url, some),
    warm,
    load,
  });
  return [
    completions('P1  completions, 8 events, node listener', 'questline', 'burst8', WARM, BURST),
    completions('P2  completions, 8 events, Express', 'questline-express', 'burst8', WARM, BURST),
    completions(
      'P3  completions, 200 events in a burst',
      'questline',
      'burst200',
      { requests: 2000, concurrency: 20 },
      { requests: 60, concurrency: 20 },
    ),
    {
      ...completions(
        'P3b completions, 100 chunks 20 ms apart',
        'questline',
        'paced',
        { requests: 600, concurrency: 200 },
        { requests: 200, concurrency: 200 },
      ),
      // Each takes 2 seconds.
      pairs: 6,
    },
    chat('P6  acknowledgement of a chat', { ENGINE: 'off' }, async () => acknowledge),
    chat('P6  poll of a quest', {}, preparePoll),
  ];
}
