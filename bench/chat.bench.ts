/**
 * Compares chat with a bare server that returns the same JSON without any work, and with Express on a Map.
 * CPU is the server process's own; pairs alternate, and the median of their ratios is reported.
 */
import { hammer, type Scenario } from './support/hammer.ts';
import type { Load } from './support/load.ts';
import { type Measured, start } from './support/process.ts';
import { median, reportRatio } from './support/report.ts';

const PAIRS = Number(process.env.BENCH_PAIRS ?? 5);
const BODY = JSON.stringify({ message: 'Tell me a short story about a lighthouse keeper and a storm.' });

const warm: Load = { requests: 30_000, concurrency: 20 };
const load: Load = { requests: 10_000, concurrency: 20 };

const acknowledge: Scenario = async (ask) => {
  await ask('POST', '/api/chat', BODY);
};

const acknowledgeAndPoll: Scenario = async (ask) => {
  const { id } = JSON.parse(await ask('POST', '/api/chat', BODY)) as { id: string };
  while (!(await ask('GET', `/api/v1/quests/${id}`)).includes('"status":"done"'));
};

async function getCost(server: Measured, scenario: Scenario): Promise<number> {
  const before = await server.read();
  await hammer(server.url, load, scenario);
  const after = await server.read();
  return (after.cpu - before.cpu) / load.requests;
}

async function compare(
  what: string,
  goal: number,
  reference: Measured,
  ours: Measured,
  prepareScenario: (server: Measured) => Promise<Scenario>,
): Promise<void> {
  const scenarios = new Map<Measured, Scenario>();
  for (const server of [reference, ours]) {
    const scenario = await prepareScenario(server);
    scenarios.set(server, scenario);
    await hammer(server.url, warm, scenario);
  }
  const costs: [number[], number[]] = [[], []];
  const ratios: number[] = [];
  for (let index = 0; index < PAIRS; index += 1) {
    const order = index % 2 === 0 ? [reference, ours] : [ours, reference];
    for (const server of order) {
      const scenario = scenarios.get(server) ?? acknowledge;
      costs[server === ours ? 1 : 0].push(await getCost(server, scenario));
    }
    ratios.push((costs[1].at(-1) ?? 0) / (costs[0].at(-1) ?? 1));
  }
  const [bare, questline] = costs.map((list) => median(list).toFixed(1));
  reportRatio(what, median(ratios), goal, `CPU per scenario ${questline} us (reference ${bare} us)`);
  await reference.stop();
  await ours.stop();
}

await compare(
  'P6  acknowledgement of a chat, node listener / bare JSON',
  1.8,
  await start('bare-json', 'servers/bare-json.ts'),
  await start('questline-chat', 'servers/questline-chat.ts', { ENGINE: 'off' }),
  async () => acknowledge,
);
await compare(
  'P6  poll of a quest, node listener / bare JSON',
  1.4,
  await start('bare-json', 'servers/bare-json.ts'),
  await start('questline-chat', 'servers/questline-chat.ts'),
  async ({ url }) => {
    let path = '';
    await hammer(url, { requests: 1, concurrency: 1 }, async (ask) => {
      const { id } = JSON.parse(await ask('POST', '/api/chat', BODY)) as { id: string };
      path = `/api/v1/quests/${id}`;
    });
    return async (ask) => {
      await ask('GET', path);
    };
  },
);
await compare(
  'chat and poll to done, node listener / Express and a Map',
  2,
  await start('map-express', 'servers/map-express.ts'),
  await start('questline-chat', 'servers/questline-chat.ts'),
  async () => acknowledgeAndPoll,
);
