/** What the codes of networks and servers mean to whoever wrote an address down. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'there is no such host',
  ETIMEDOUT: 'nobody answers there',
  '28P01': 'the server refuses the user or the password',
  '28000': 'the server refuses the user',
  '3D000': 'the server has no such database',
  '42501': 'the user may not make tables there',
  '3F000': 'the user sees no schema to make tables in',
  WRONGPASS: 'the server refuses the user or the password',
  NOAUTH: 'the server wants a password',
};

/** Why something could not be reached. Never the address itself, which may hold a password. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return `${REASONS[code] ?? 'it cannot be reached'} (${code})`;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  // Happy eyeballs: one failure per address.
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if ('code' in error && error.code !== undefined) return String(error.code);
  const [word = ''] = error.message.split(' ', 1);
  if (word in REASONS) return word;
  return /timeout|timed out/i.test(error.message) ? 'ETIMEDOUT' : error.name;
}
