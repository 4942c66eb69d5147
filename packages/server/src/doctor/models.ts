import { parseDay } from '@questline/core/internal';
import type { Clock, ModelInfo } from '@questline/core/ports';
import type { Configuration } from '../environment/configuration.ts';
import { readImportedModels } from '../imported-models.ts';
import { withOfferedModels } from '../offered-models.ts';
import { type Check, type Finding, findings } from './finding.ts';

/** How early the doctor warns of a retirement. */
const WARNING_DAYS = 60;
const DAY_MS = 86_400_000;

/** Warns of models that retire within 60 days, of providers that have a key. Asks no provider. */
export function looksAtModels(configuration: Configuration, clock: Clock): readonly Check[] {
  const { openAIServer, providerKeys } = configuration;
  // A server with models of its own would have to be asked; it names no dates.
  const isOwnServer = openAIServer !== undefined && openAIServer.models !== 'openai';
  const { openAIServer: _, ...others } = configuration;
  const keys = new Map([...providerKeys].filter(([name]) => name !== 'openai' || !isOwnServer));
  const dated = { ...others, openAIServer: undefined, providerKeys: keys };
  return [
    async () => {
      const imported = await readImportedModels(configuration.storageDir).catch((error: unknown) => error);
      if (imported instanceof Error) return findings('models', () => Promise.reject(imported));
      const infos = await withOfferedModels(
        { configuration: dated, clock, imported: imported as never },
        (catalogue) => catalogue.list().map(({ info }) => info),
      );
      return findRetiring(infos, clock.now());
    },
  ];
}

/** One finding for each day on which models retire. */
export function findRetiring(models: readonly ModelInfo[], now: number): readonly Finding[] {
  const days = new Map<string, ModelInfo[]>();
  for (const model of models) {
    const end = parseDay(model.deprecationDate);
    if (end === undefined || model.deprecationDate === undefined || end - now > WARNING_DAYS * DAY_MS)
      continue;
    days.set(model.deprecationDate, [...(days.get(model.deprecationDate) ?? []), model]);
  }
  return [...days].sort(([a], [b]) => a.localeCompare(b)).map(([day, retiring]) => toFinding(day, retiring));
}

function toFinding(day: string, retiring: readonly ModelInfo[]): Finding {
  const ids = retiring.map(({ id }) => id).join(', ');
  const successors = retiring.map(({ id, replacedBy }) =>
    replacedBy === undefined ? `${id} has no successor` : `use ${replacedBy} in place of ${id}`,
  );
  return {
    subject: 'models',
    state: 'warning',
    message: `${ids} ${retiring.length === 1 ? 'retires' : 'retire'} on ${day}`,
    advice: successors.join('; '),
  };
}
