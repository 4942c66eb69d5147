import type { ModelInfo, ModelProvider } from '../ports/models.ts';
import { ConfigurationError } from './configuration-error.ts';
import type { Settings } from './settings.ts';

/**
 * Checks the models that settings name. Providers that list their models at run time may offer one later, so with such
 * a provider unknown names are accepted.
 * @throws ConfigurationError
 */
export function checkModelNames(settings: Settings, providers: readonly ModelProvider[]): void {
  const listed = new Map<string, ModelInfo>(
    providers.flatMap((provider) => provider.models()).map((info) => [info.id, info]),
  );
  if (listed.size === 0 || providers.some((provider) => 'refreshModels' in provider)) return;
  const added = new Set(Object.keys(settings.models ?? {}));
  const issues: string[] = [];

  const check = (option: string, id: string, type: ModelInfo['type']): void => {
    const info = listed.get(id);
    if (info?.type === type || (info === undefined && added.has(id))) return;
    const possible = [...listed.values()].filter((one) => one.type === type).map((one) => one.id);
    // No provider of such models has a key: calls say so.
    if (info === undefined && possible.length === 0) return;
    issues.push(
      `settings.${option}: expected the id of a model of the type ${type}, got ${JSON.stringify(id)}. ` +
        `Possible: ${possible.join(', ') || 'none'}`,
    );
  };

  const { DefaultAPIModel: chat, DefaultImageModel: image } = settings.admin ?? {};
  if (chat != null) check('admin.DefaultAPIModel', chat, 'text');
  if (image != null) check('admin.DefaultImageModel', image, 'image');
  for (const [id, others] of Object.entries(settings.fallbacks ?? {})) {
    for (const one of [id, ...others]) check(`fallbacks.${id}`, one, 'text');
  }
  if (issues.length > 0) throw new ConfigurationError(issues);
}
