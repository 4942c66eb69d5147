/**
 * Compares streamed chat completions over the OpenAI API with our own completions: the same server, provider, key and
 * ledger. CPU is the server process's own time; pairs alternate, and the median of their ratios is reported.
 */
import { complete, type Load, type Wire } from './support/load.ts';
import { start } from './support/process.ts';
import { median, reportRatio } from './support/report.ts';

const PAIRS = Number(process.env.BENCH_PAIRS ?? 15);

const upstream = await start('upstream', 'upstream.ts');

for (const [what, script, warm, load] of [
  ['8 events', 'burst8', { requests: 30_000, concurrency: 20 }, { requests: 1000, concurrency: 20 }],
  ['200 events', 'burst200', { requests: 3000, concurrency: 20 }, { requests: 200, concurrency: 20 }],
] as const satisfies readonly (readonly [string, string, Load, Load])[]) {
  const server = await start('questline-openai', 'servers/questline-openai.ts', {
    UPSTREAM: `${upstream.url}/${script}/v1`,
  });
  const getCost = async (wire: Wire): Promise<number> => {
    const before = await server.read();
    await complete(server.url, { ...load, wire });
    return ((await server.read()).cpu - before.cpu) / load.requests;
  };
  for (const wire of ['own', 'openai'] as const) await complete(server.url, { ...warm, wire });
  const ratios: number[] = [];
  const costs: Record<Wire, number[]> = { own: [], openai: [] };
  for (let index = 0; index < PAIRS; index += 1) {
    for (const wire of index % 2 === 0 ? (['own', 'openai'] as const) : (['openai', 'own'] as const)) {
      costs[wire].push(await getCost(wire));
    }
    ratios.push((costs.openai.at(-1) ?? 0) / (costs.own.at(-1) ?? 1));
  }
  reportRatio(
    `W1  chat completions over the OpenAI API, ${what} / own`,
    median(ratios),
    1.05,
    `CPU per request ${median(costs.openai).toFixed(0)} us (own ${median(costs.own).toFixed(0)} us)`,
  );
  await server.stop();
}

await upstream.stop();
