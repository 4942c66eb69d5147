import type { Setting } from '../records.ts';

/** The label and hint of a setting. */
export interface Meaning {
  readonly label: string;
  readonly hint: string;
  /** The setting names a model of this type. */
  readonly modelType?: string;
}

interface Group {
  readonly title: string;
  readonly meanings: Readonly<Record<string, Meaning>>;
}

const GROUPS: readonly Group[] = [
  {
    title: 'Models',
    meanings: {
      DefaultAPIModel: {
        label: 'Default model',
        hint: 'Used when a request names no model. None: the cheapest one with tools.',
        modelType: 'text',
      },
      DefaultImageModel: {
        label: 'Default image model',
        hint: 'Used when an image request names no model. None: the cheapest one.',
        modelType: 'image',
      },
    },
  },
  {
    title: 'Credits and accounts',
    meanings: {
      enforceCredits: {
        label: 'Enforce credits',
        hint: 'On: calls are charged to the account and rejected without credit. Off: usage is only recorded.',
      },
      defaultFreeCredits: { label: 'Credits of a new account', hint: 'Granted once, at registration.' },
      allowOpenRegistration: {
        label: 'Open registration',
        hint: 'On: anyone can register. Off: registration needs an invite.',
      },
    },
  },
  {
    title: 'Limits and features',
    meanings: {
      MaxFileSize: { label: 'Maximum file size', hint: 'In bytes.' },
      MaxAgentsPerUser: { label: 'Agents per account', hint: 'Maximum per account.' },
      EnableAgents: { label: 'Agents', hint: 'Users can create agents.' },
      AgentPublishing: {
        label: 'Public agents',
        hint: 'approval: an administrator approves each agent first. open: agents are public immediately.',
      },
      EnableArtifacts: {
        label: 'Artifacts',
        hint: 'Models can save documents, code and charts as artifacts.',
      },
      EnableDataLakes: { label: 'Data lakes', hint: 'Models can search collections of files.' },
    },
  },
];

/** Settings by group. Settings without a description come last, by name. */
export function getGroups(settings: readonly Setting[]) {
  const known = GROUPS.map(({ title, meanings }) => ({
    title,
    settings: Object.entries(meanings).flatMap(([name, meaning]) => {
      const setting = settings.find(({ settingName }) => settingName === name);
      return setting === undefined ? [] : [{ setting, meaning }];
    }),
  }));
  const names = new Set(GROUPS.flatMap(({ meanings }) => Object.keys(meanings)));
  const others = settings
    .filter(({ settingName }) => !names.has(settingName))
    .map((setting) => ({ setting, meaning: { label: setting.settingName, hint: '' } }));
  return [...known, { title: 'Others', settings: others }].filter((group) => group.settings.length > 0);
}
