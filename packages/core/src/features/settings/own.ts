import { DEFAULT_LANGUAGE, type UserRecord } from '../../identity/records.ts';
import type { WireSettings } from './contract.ts';

/** The change of a user's settings; absent fields stay unchanged. */
export interface OwnSettingsChange {
  readonly theme?: string | undefined;
  readonly language?: string | undefined;
  readonly notifications?: { readonly email?: boolean | undefined } | undefined;
}

export function getSettings(
  { preferences, notifications }: Pick<UserRecord, 'preferences' | 'notifications'>,
  defaultTheme: string,
): WireSettings {
  return {
    theme: preferences.theme ?? defaultTheme,
    language: preferences.language ?? DEFAULT_LANGUAGE,
    // Nothing sends to Slack.
    notifications: { email: notifications?.email ?? true, slack: false },
  };
}

/** Returns a user's settings after a change. */
export function withSettings(
  { preferences, notifications }: Pick<UserRecord, 'preferences' | 'notifications'>,
  { theme, language, notifications: input = {} }: OwnSettingsChange,
): Pick<UserRecord, 'preferences' | 'notifications'> {
  return {
    preferences: {
      ...preferences,
      ...(theme !== undefined && { theme }),
      ...(language !== undefined && { language }),
    },
    notifications: {
      ...notifications,
      ...(input.email !== undefined && { email: input.email }),
    },
  };
}
