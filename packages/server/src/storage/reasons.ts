/** Messages for error codes of networks and servers, for the author of the address. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused, no server listens there',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'unknown host',
  ETIMEDOUT: 'timed out',
  '28P01': 'the server rejects the user or the password',
  '28000': 'the server rejects the user',
  '3D000': 'the database does not exist',
  '42501': 'the user may not create tables',
  '3F000': 'the user has no schema to create tables in',
  WRONGPASS: 'the server rejects the user or the password',
  NOAUTH: 'the server requires a password',
};

/** Why a connection failed. Never contains the address, which may hold a password. */
export function getReason(error: unknown): string {
  const code = getCode(error);
  return `${REASONS[code] ?? 'unreachable'} (${code})`;
}

function getCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  // Happy eyeballs: one error per address.
  if (error instanceof AggregateError && error.errors.length > 0) return getCode(error.errors[0]);
  if ('code' in error && error.code !== undefined) return String(error.code);
  const [word = ''] = error.message.split(' ', 1);
  if (word in REASONS) return word;
  return /timeout|timed out/i.test(error.message) ? 'ETIMEDOUT' : error.name;
}
