import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { orderByPrice } from '@questline/core/internal';
import { createSystemClock } from '@questline/core/memory';
import type { ModelInfo, ModelPrices } from '@questline/core/ports';
import type { ReadList } from '@questline/providers/lists';
import { CliError } from '../cli-error.ts';
import { type Configuration, readConfiguration } from '../environment/configuration.ts';
import { withEnvFile } from '../environment/env-file.ts';
import { importedPath, readImportedModels, writeImportedModels } from '../imported-models.ts';
import { withOfferedModels } from '../offered-models.ts';
import { getCode } from '../storage/folder.ts';
import { HELP } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { compareModels, selectChanges } from './model-changes.ts';
import { columns, JSON_OUTPUT, show } from './output.ts';

const ALL = { name: 'all', meaning: 'with the models of providers without a key' };
const DRY_RUN = { name: 'dry-run', meaning: 'show what would change, and store nothing' };
const ADD = { name: 'add', meaning: 'also add chat models and embeddings that are not known here' };
const FILE = { name: 'FILE', meaning: 'the list, as JSON' };

/** Bytes. */
const MAX_FILE = 64 * 2 ** 20;

export const listModels: Command = {
  name: 'models list',
  summary: 'List the models that a start offers, with prices, windows and dates.',
  options: [ALL, JSON_OUTPUT, HELP],
  notes:
    'Prices are USD per million tokens: input / output, and cached input. RETIRES: refused from this day on. CHECKED: when the\n' +
    'figures were last compared with the vendor. Reads the same variables as `questline start`.',
  async run(given, surroundings) {
    const configuration = configure(surroundings);
    const imported = await readImportedModels(configuration.storageDir);
    const all = given.has(ALL.name);
    const models = await withOfferedModels(
      { configuration, clock: createSystemClock(), imported, all },
      (catalogue) => orderByPrice(catalogue.list()).map(({ info }) => info),
    );
    show(given, surroundings, { models }, () =>
      models.length === 0 ? NO_MODELS : columns(TITLES, models.map(toRow)),
    );
  },
};

const NO_MODELS =
  'There are no models: no provider has a key. Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or XAI_API_KEY, or\n' +
  'see all of them with --all.\n';

export const importModels: Command = {
  name: 'models import',
  summary: 'Refresh prices, windows and dates from a public list; the next start uses them.',
  arguments: [FILE],
  options: [DRY_RUN, ADD, JSON_OUTPUT, HELP],
  notes:
    'Reads https://models.dev/api.json and the model_prices_and_context_window.json of LiteLLM. What differs from the built-in\n' +
    'catalogue is stored as models.json in STORAGE_DIR, in place of an earlier import. Delete that file to undo it.',
  async run(given, surroundings) {
    const configuration = configure(surroundings);
    const clock = createSystemClock();
    const { source, list } = await readList(resolve(surroundings.folder, String(given.get(FILE.name))));
    const check = (imported: ReadList['models']): Promise<readonly ModelInfo[]> =>
      withOfferedModels(
        { configuration: withVendors(configuration), clock, imported, all: true },
        (catalogue) => catalogue.list().map(({ info }) => info),
      );
    const builtIn = await check({});
    const models = selectChanges(list.models, builtIn, given.has(ADD.name));
    const before = await check(await readImportedModels(configuration.storageDir));
    const changes = compareModels(before, await check(models));
    const isDryRun = given.has(DRY_RUN.name);
    if (!isDryRun) {
      const importedAt = new Date(clock.now()).toISOString();
      writeImportedModels(configuration.storageDir, { importedAt, source, models });
    }
    const stored = isDryRun ? null : importedPath(configuration.storageDir);
    show(given, surroundings, { source, changes, skipped: list.skipped, stored }, () => {
      const lines = changes.map(({ id, field, from, to }) => `${id}  ${field}: ${from} -> ${to}\n`);
      const skipped = list.skipped.map(({ id, reason }) => `${id} is left out: ${reason}\n`);
      const end = isDryRun ? 'Nothing was stored.' : `Stored in ${stored}; the next start uses it.`;
      return `${lines.join('')}${skipped.join('')}${changes.length} ${changes.length === 1 ? 'change' : 'changes'} from ${source}. ${end}\n`;
    });
  },
};

function configure({ environment, folder }: CommandContext): Configuration {
  return readConfiguration(withEnvFile(environment, folder), folder);
}

/** The catalogue is compared whole; a server of the host's own has nothing to do with public lists. */
function withVendors(configuration: Configuration): Configuration {
  return { ...configuration, openAIServer: undefined, providerKeys: new Map() };
}

async function readList(path: string): Promise<{ readonly source: string; readonly list: ReadList }> {
  let text: string;
  try {
    if (statSync(path).size > MAX_FILE) throw new CliError([`FILE: ${path} has more than 64 MiB`]);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError([`FILE: ${path} cannot be read (${getCode(error)})`]);
  }
  const { readLiteLLM, readModelsDev } = await import('@questline/providers/lists');
  const faults: string[] = [];
  for (const [source, read] of [
    ['models.dev', readModelsDev],
    ['LiteLLM', readLiteLLM],
  ] as const) {
    try {
      return { source, list: read(text) };
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new CliError(faults.map((fault) => `FILE: ${fault}`));
}

const TITLES = [
  'MODEL',
  'KIND',
  'PROVIDER',
  'WINDOW',
  'PRICES',
  'CHANGES',
  'RETIRES',
  'SUCCESSOR',
  'CHECKED',
];

function toRow(info: ModelInfo): string[] {
  const { id, type, provider, contextWindow, prices, priceTiers = [], priceChanges = [] } = info;
  const tiers = priceTiers.map((tier) => `above ${tier.aboveInputTokens}: ${formatPrices(tier.prices)}`);
  const changes = priceChanges.map((change) => `${change.from}: ${formatPrices(change.prices)}`);
  return [
    id,
    type,
    provider,
    contextWindow > 0 ? String(contextWindow) : '-',
    [formatPrices(prices), ...tiers].join('; '),
    changes.join('; ') || '-',
    info.deprecationDate ?? '-',
    info.replacedBy ?? '-',
    info.checkedOn ?? '-',
  ];
}

const UNITS: readonly (readonly [keyof ModelPrices, string])[] = [
  ['image', 'an image'],
  ['second', 'a second'],
  ['thousandCharacters', 'a thousand characters'],
  ['megabyte', 'a megabyte'],
];

function formatPrices(prices: ModelPrices | undefined): string {
  if (prices === undefined) return 'none';
  const { input, output, cachedInput } = prices;
  const tokens = [input, output].filter((price) => price !== undefined).join(' / ');
  const cached = cachedInput === undefined ? '' : `, cached ${cachedInput}`;
  const units = UNITS.flatMap(([name, unit]) =>
    prices[name] === undefined ? [] : [`${prices[name]} ${unit}`],
  );
  return [...(tokens === '' ? [] : [tokens + cached]), ...units].join(', ');
}
