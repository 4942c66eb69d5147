import * as z from 'zod';
import { ApiError } from '../errors.ts';
import { validate } from '../http/validation.ts';
import { requireAbility } from '../identity/abilities.ts';
import { USERS } from '../identity/records.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { ADMIN_SETTING_NAMES, adminSettings, type Switches } from './admin.ts';
import {
  fetchSettings,
  listAdminSettings,
  readServerSettings,
  updateAdminSetting,
  updateOwnSettings,
} from './contract.ts';
import { settingsOf, withSettings } from './own.ts';

export interface SettingsServices extends PipelineServices {
  readonly store: Store;
  readonly switches: Switches;
  readonly defaultTheme: string;
}

export function settingsRoutes(services: SettingsServices): Route[] {
  return [
    createFetchSettingsHandler(services),
    createUpdateOwnSettingsHandler(services),
    createListAdminSettingsHandler(services),
    createUpdateAdminSettingHandler(services),
    createReadServerSettingsHandler(services),
  ];
}

/** `GET /api/settings/fetch` */
function createFetchSettingsHandler(services: SettingsServices): Route {
  const users = services.store.collection(USERS);
  return defineRoute(fetchSettings, services, async (_input, { caller }) => {
    const user = await users.get(caller.userId);
    if (user === undefined) throw gone();
    return settingsOf(user, services.defaultTheme);
  });
}

/** `PUT /api/settings/own` */
function createUpdateOwnSettingsHandler(services: SettingsServices): Route {
  return defineRoute(updateOwnSettings, services, async ({ body }, { caller }) => {
    // Read and written in one transaction: of two changes at once neither takes the other back.
    const user = await services.store.transaction(async (inner) => {
      const users = inner.collection(USERS);
      const before = await users.get(caller.userId);
      return before && users.update(before.id, withSettings(before, body));
    });
    if (user === undefined) throw gone();
    return settingsOf(user, services.defaultTheme);
  });
}

/** `GET /api/settings` */
function createListAdminSettingsHandler(services: SettingsServices): Route {
  return defineRoute(listAdminSettings, services, async (_input, { caller }) => {
    requireAbility(caller, 'manage', 'AdminSetting');
    const current = await services.switches.current();
    return {
      settings: ADMIN_SETTING_NAMES.map((name) => ({ settingName: name, settingValue: current[name] })),
    };
  });
}

/** `PUT /api/settings/update` */
function createUpdateAdminSettingHandler(services: SettingsServices): Route {
  return defineRoute(updateAdminSetting, services, async ({ body }, { caller }) => {
    requireAbility(caller, 'manage', 'AdminSetting');
    const { key } = body;
    const { value } = validate(z.object({ value: adminSettings.shape[key] }), body);
    await services.switches.set(key, value);
    return { settingName: key, settingValue: value };
  });
}

/** `GET /api/settings/serverConfigPublic` */
function createReadServerSettingsHandler(services: SettingsServices): Route {
  return defineRoute(readServerSettings, services, async () => {
    const { allowOpenRegistration } = await services.switches.current();
    return { allowOpenRegistration, defaultTheme: services.defaultTheme };
  });
}

function gone(): ApiError {
  return new ApiError(401, 'Invalid or expired token');
}
