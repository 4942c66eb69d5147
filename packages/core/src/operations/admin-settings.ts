import * as z from 'zod';
import { text } from '../contract/text.ts';
import type { Clock } from '../ports/clock.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';

/** Maximum length of a model id. */
const modelId = text({ min: 1, max: 200 }).nullable();

/**
 * The schema of the settings that an administrator can change at run time. Validates HTTP input and the host's
 * defaults.
 */
export const adminSettings = z.strictObject({
  DefaultAPIModel: modelId.meta({
    description:
      'The model of chats without `model`. Null selects the cheapest chat model that offers tools, of the first provider.',
  }),
  DefaultImageModel: modelId.meta({
    description:
      'The model of image requests without `model`. Null selects the cheapest image model of the first provider.',
  }),
  enforceCredits: z
    .boolean()
    .meta({ description: 'Off: nothing is held or charged; usage is still recorded.' }),
  allowOpenRegistration: z.boolean().meta({ description: 'Whether users register without an invite.' }),
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
    .meta({ description: 'Maximum size of an uploaded file, in bytes.' }),
  MaxAgentsPerUser: z
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .meta({ description: 'Maximum number of agents of one user.' }),
  EnableDataLakes: z.boolean().meta({ description: 'Whether data lakes can be used.' }),
  EnableArtifacts: z.boolean().meta({ description: 'Whether artifacts can be used.' }),
  EnableAgents: z.boolean().meta({ description: 'Whether agents can be used.' }),
  AgentPublishing: z.enum(['approval', 'open']).meta({
    description: '`approval`: an administrator approves a public agent first. `open`: it is public at once.',
  }),
});

export type AdminSettings = Readonly<z.output<typeof adminSettings>>;

export type AdminSettingName = keyof AdminSettings;

export const ADMIN_SETTING_NAMES = Object.keys(adminSettings.shape) as readonly AdminSettingName[];

export const DEFAULT_ADMIN_SETTINGS: AdminSettings = {
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
  AgentPublishing: 'approval',
};

/** One changed setting. The id is the name of the setting. */
export interface AdminSettingRecord extends StoredRecord {
  readonly value: string | number | boolean | null;
}

export const ADMIN_SETTINGS = defineCollection<AdminSettingRecord>({
  name: 'admin_settings',
  columns: {},
  unique: [],
  indexes: [],
});

/** Reads and writes admin settings, with a short cache so that calls do not wait for the store. */
export interface AdminSettingsReader {
  /** Returns synchronously if cached, otherwise a promise. */
  current(): AdminSettings | Promise<AdminSettings>;
  /**
   * @param value a valid value of this setting, according to `adminSettings`.
   * @param store that of the acting user, for the audit log. Default: the service acts.
   */
  set(name: AdminSettingName, value: AdminSettings[AdminSettingName], store?: Store): Promise<void>;
}

const CACHE_TTL_MS = 2000;

export function createAdminSettingsReader(services: {
  store: Store;
  clock: Clock;
  /** The host's defaults. */
  defaults: Partial<AdminSettings>;
}): AdminSettingsReader {
  const records = services.store.collection(ADMIN_SETTINGS);
  const defaults: AdminSettings = { ...DEFAULT_ADMIN_SETTINGS, ...services.defaults };
  let known: { readonly settings: AdminSettings; readonly until: number } | undefined;
  let reading: Promise<AdminSettings> | undefined;

  async function read(): Promise<AdminSettings> {
    const changed: Record<string, unknown> = {};
    for (const { id, value } of await records.find({})) if (id in defaults) changed[id] = value;
    const settings: AdminSettings = { ...defaults, ...changed };
    known = { settings, until: services.clock.now() + CACHE_TTL_MS };
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
    async set(name, value, store = services.store) {
      const written = store.collection(ADMIN_SETTINGS);
      const inserted = await written.insert({ id: name, value });
      if (!inserted) await written.update(name, { value });
      known = undefined;
    },
  };
}
