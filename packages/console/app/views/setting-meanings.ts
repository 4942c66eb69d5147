import type { Setting } from '../records.ts';

/** A setting in words for people. */
export interface Meaning {
  readonly label: string;
  readonly hint: string;
  /** It names a model of this type. */
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
        label: 'Usual model',
        hint: 'Answers whoever names none.',
        modelType: 'text',
      },
      DefaultImageModel: {
        label: 'Usual model for pictures',
        hint: 'Draws for whoever names none.',
        modelType: 'image',
      },
    },
  },
  {
    title: 'Credits and accounts',
    meanings: {
      enforceCredits: {
        label: 'Enforce credits',
        hint: 'On: work is paid for from the account, and refused without credit. Off: it is only written down.',
      },
      defaultFreeCredits: { label: 'Credits of a new account', hint: 'Given once, when it is made.' },
      allowOpenRegistration: {
        label: 'Open registration',
        hint: 'On: everybody may make an account. Off: it takes an invite.',
      },
    },
  },
  {
    title: 'Limits and features',
    meanings: {
      MaxFileSize: { label: 'Largest file', hint: 'In bytes.' },
      MaxAgentsPerUser: { label: 'Agents for each account', hint: 'At most so many.' },
      EnableAgents: { label: 'Agents', hint: 'Let people make agents of their own.' },
      EnableArtifacts: { label: 'Artifacts', hint: 'Keep what models make as documents of their own.' },
      EnableDataLakes: { label: 'Data lakes', hint: 'Let models look things up in collections of files.' },
    },
  },
];

/** Settings by what they are about. Those that this page knows nothing of come last, by their names. */
export function groupsOf(settings: readonly Setting[]) {
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
