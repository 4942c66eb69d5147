import * as z from 'zod';
import { text } from '../http/text.ts';
import type { Clock } from '../ports/clock.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';

/** Ids of models are short; what nobody means is not kept. */
const modelId = text({ min: 1, max: 200 }).nullable();

/**
 * What an administrator may change while the service runs: the one list of names, with what each may be. Who writes a
 * setting, over HTTP or as the host's default, is checked against it. @see open points, 4.3
 */
export const adminSettings = z.strictObject({
  DefaultAPIModel: modelId,
  DefaultImageModel: modelId,
  enforceCredits: z
    .boolean()
    .meta({ description: 'Off: nothing is held or charged; usage is still written down.' }),
  allowOpenRegistration: z.boolean(),
  defaultFreeCredits: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .meta({ description: 'Credits given to a new account.' }),
  MaxFileSize: z
    .number()
    .int()
    .min(1)
    .max(2 ** 40)
    .meta({ description: 'Bytes.' }),
  MaxAgentsPerUser: z.number().int().min(0).max(1_000_000),
  EnableDataLakes: z.boolean(),
  EnableArtifacts: z.boolean(),
  EnableAgents: z.boolean(),
});

export type AdminSettings = Readonly<z.output<typeof adminSettings>>;

export type AdminSettingName = keyof AdminSettings;

export const ADMIN_SETTING_NAMES = Object.keys(adminSettings.shape) as readonly AdminSettingName[];

const DEFAULT_ADMIN_SETTINGS: AdminSettings = {
  DefaultAPIModel: null,
  DefaultImageModel: null,
  enforceCredits: true,
  allowOpenRegistration: false,
  defaultFreeCredits: 0,
  MaxFileSize: 30 * 2 ** 20,
  MaxAgentsPerUser: 100,
  EnableDataLakes: false,
  EnableArtifacts: true,
  EnableAgents: true,
};

/** One changed setting; its id is the setting's name. */
export interface AdminSettingRecord extends StoredRecord {
  readonly value: string | number | boolean | null;
}

export const ADMIN_SETTINGS = defineCollection<AdminSettingRecord>({
  name: 'admin_settings',
  columns: {},
  unique: [],
  indexes: [],
});

/** The administrator's settings, believed for a moment so that no call waits for the store. */
export interface Switches {
  /** At once when known, else a promise. */
  current(): AdminSettings | Promise<AdminSettings>;
  /** @param value one that `adminSettings` allows under this name. */
  set(name: AdminSettingName, value: AdminSettings[AdminSettingName]): Promise<void>;
}

const BELIEVED_MS = 2000;

export function createSwitches(services: {
  store: Store;
  clock: Clock;
  /** The host's own defaults. */
  defaults: Partial<AdminSettings>;
}): Switches {
  const records = services.store.collection(ADMIN_SETTINGS);
  const defaults: AdminSettings = { ...DEFAULT_ADMIN_SETTINGS, ...services.defaults };
  let known: { readonly settings: AdminSettings; readonly until: number } | undefined;
  let reading: Promise<AdminSettings> | undefined;

  async function read(): Promise<AdminSettings> {
    const changed: Record<string, unknown> = {};
    for (const { id, value } of await records.find({})) if (id in defaults) changed[id] = value;
    const settings: AdminSettings = { ...defaults, ...changed };
    known = { settings, until: services.clock.now() + BELIEVED_MS };
    return settings;
  }

  return {
    current() {
      if (known !== undefined && known.until > services.clock.now()) return known.settings;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    async set(name, value) {
      const inserted = await records.insert({ id: name, value });
      if (!inserted) await records.update(name, { value });
      known = undefined;
    },
  };
}
