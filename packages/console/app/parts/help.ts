/** What a user can do about a failed answer. */
export interface Help {
  readonly text: string;
  readonly link?: { readonly title: string; readonly href: string };
}

const CREDITS: Help = {
  text: 'Ask an administrator for credits, or choose a cheaper model.',
  link: { title: 'See your usage', href: '#/usage' },
};
const KEYS: Help = {
  text: 'Choose another model, or store a provider key of your own.',
  link: { title: 'Provider keys', href: '#/provider-keys' },
};

export function getHelp(reason: string, code: string | undefined): Help | undefined {
  if (code === 'insufficient_credits' || /insufficient credits/i.test(reason)) return CREDITS;
  if (code === 'spend_cap_exceeded')
    return { text: 'The spend cap is reached. It is reset with its period.' };
  if (code === 'budget_exceeded') return { text: 'A budget is used up. It is reset with its window.' };
  if (code === 'provider_not_configured' || /no (?:chat )?model|api key|not configured/i.test(reason))
    return KEYS;
  if (/cannot be reached/i.test(reason)) return { text: 'Check your connection, then retry.' };
  return undefined;
}
