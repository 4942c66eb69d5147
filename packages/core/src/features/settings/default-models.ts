import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { isChatModel, isImageMaker } from '../../models/default-model.ts';
import { refuseRetired } from '../../models/retired.ts';
import type { AdminSettingName } from '../../operations/admin-settings.ts';
import { invalid } from '../../shared/errors.ts';

interface DefaultModelRule {
  readonly kind: string;
  fits(entry: CatalogueEntry): boolean;
}

const RULES: Readonly<Partial<Record<AdminSettingName, DefaultModelRule>>> = {
  DefaultAPIModel: { kind: 'chat model', fits: isChatModel },
  DefaultImageModel: { kind: 'model that makes images of a prompt', fits: isImageMaker },
};

/** @throws ApiError 422 `model_unavailable` for a default model that does not exist or is of another kind. */
export function checkDefaultModel(catalogue: ModelCatalogue, name: AdminSettingName, value: unknown): void {
  const rule = RULES[name];
  if (rule === undefined || typeof value !== 'string') return;
  const entry = catalogue.find(value);
  if (entry !== undefined && rule.fits(entry)) return;
  refuseRetired(catalogue, value);
  throw invalid('value', `there is no ${rule.kind} '${value}'`, 'model_unavailable');
}
