import type { UserRecord } from '../identity/records.ts';
import type { WireSettings } from './contract.ts';

const USUAL_LANGUAGE = 'en';

/** What somebody wants to be different; absent is left as it is. */
export interface OwnSettingsChange {
  readonly theme?: string | undefined;
  readonly language?: string | undefined;
  readonly notifications?:
    | { readonly email?: boolean | undefined; readonly slack?: boolean | undefined }
    | undefined;
}

export function settingsOf(
  { preferences, notifications }: Pick<UserRecord, 'preferences' | 'notifications'>,
  defaultTheme: string,
): WireSettings {
  return {
    theme: preferences.theme ?? defaultTheme,
    language: preferences.language ?? USUAL_LANGUAGE,
    notifications: { email: notifications?.email ?? true, slack: notifications?.slack ?? false },
  };
}

/** What a user keeps after a change. */
export function withSettings(
  { preferences, notifications }: Pick<UserRecord, 'preferences' | 'notifications'>,
  { theme, language, notifications: wish = {} }: OwnSettingsChange,
): Pick<UserRecord, 'preferences' | 'notifications'> {
  return {
    preferences: {
      ...preferences,
      ...(theme !== undefined && { theme }),
      ...(language !== undefined && { language }),
    },
    notifications: {
      ...notifications,
      ...(wish.email !== undefined && { email: wish.email }),
      ...(wish.slack !== undefined && { slack: wish.slack }),
    },
  };
}
