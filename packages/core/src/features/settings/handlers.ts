import * as z from 'zod';
import { validate } from '../../http/validation.ts';
import { requireAbility } from '../../identity/abilities.ts';
import { USERS } from '../../identity/records.ts';
import type { ModelCatalogue } from '../../models/catalogue.ts';
import {
  ADMIN_SETTING_NAMES,
  type AdminSettingsReader,
  adminSettings,
} from '../../operations/admin-settings.ts';
import { actingFor } from '../../operations/audit.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError } from '../../shared/errors.ts';
import {
  fetchSettings,
  listAdminSettings,
  readServerConfiguration,
  readServerSettings,
  updateAdminSetting,
  updateOwnSettings,
} from './contract.ts';
import { checkDefaultModel } from './default-models.ts';
import { getSettings, withSettings } from './own.ts';

export interface SettingsServices extends PipelineServices {
  readonly store: Store;
  readonly adminSettings: AdminSettingsReader;
  readonly defaultTheme: string;
  readonly publicUrl: string | undefined;
  readonly catalogue: ModelCatalogue;
}

export function settingsRoutes(services: SettingsServices): Route[] {
  return [
    createFetchSettingsHandler(services),
    createUpdateOwnSettingsHandler(services),
    createListAdminSettingsHandler(services),
    createUpdateAdminSettingHandler(services),
    createReadServerSettingsHandler(services),
    createReadServerConfigurationHandler(services),
  ];
}

/** `GET /api/settings/fetch` */
function createFetchSettingsHandler(services: SettingsServices): Route {
  const users = services.store.collection(USERS);
  return defineRoute(fetchSettings, services, async (_input, { caller }) => {
    const user = await users.get(caller.userId);
    if (user === undefined) throw gone();
    return getSettings(user, services.defaultTheme);
  });
}

/** `PUT /api/settings/own` */
function createUpdateOwnSettingsHandler(services: SettingsServices): Route {
  return defineRoute(updateOwnSettings, services, async ({ body }, { caller }) => {
    // Read and write share one transaction, so concurrent changes do not overwrite each other.
    const user = await services.store.transaction(async (inner) => {
      const users = inner.collection(USERS);
      const before = await users.get(caller.userId);
      return before && users.update(before.id, withSettings(before, body));
    });
    if (user === undefined) throw gone();
    return getSettings(user, services.defaultTheme);
  });
}

/** `GET /api/settings` */
function createListAdminSettingsHandler(services: SettingsServices): Route {
  return defineRoute(listAdminSettings, services, async (_input, { caller }) => {
    requireAbility(caller, 'manage', 'AdminSetting');
    const current = await services.adminSettings.current();
    return {
      settings: ADMIN_SETTING_NAMES.map((name) => ({ settingName: name, settingValue: current[name] })),
    };
  });
}

/** `PUT /api/settings/update` */
function createUpdateAdminSettingHandler(services: SettingsServices): Route {
  return defineRoute(updateAdminSetting, services, async ({ body }, call) => {
    requireAbility(call.caller, 'manage', 'AdminSetting');
    const { key } = body;
    const { value } = validate(z.object({ value: adminSettings.shape[key] }), body);
    checkDefaultModel(services.catalogue, key, value);
    await services.adminSettings.set(key, value, actingFor(services, call).store);
    return { settingName: key, settingValue: value };
  });
}

/** `GET /api/settings/serverConfigPublic` */
function createReadServerSettingsHandler(services: SettingsServices): Route {
  return defineRoute(readServerSettings, services, async () => {
    const { allowOpenRegistration } = await services.adminSettings.current();
    return { allowOpenRegistration, defaultTheme: services.defaultTheme };
  });
}

/** `GET /api/settings/serverConfig`. Without a public URL, only the client knows the address of the service. */
function createReadServerConfigurationHandler(services: SettingsServices): Route {
  const base = services.publicUrl?.replace(/\/+$/, '');
  return defineRoute(readServerConfiguration, services, async (_input, { mountPath }) =>
    base === undefined ? {} : { sseCompletionsUrl: `${base}${mountPath}/api/ai/v1/completions` },
  );
}

function gone(): ApiError {
  return new ApiError(401, 'Invalid or expired token');
}
