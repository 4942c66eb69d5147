/** What looks like a credential wherever it stands: API keys of ours and of others, tokens, passwords in URLs. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/svc_(live|test)_[0-9A-Za-z]+/g, 'svc_$1_[redacted]'],
  [/eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, '[token]'],
  [/\b(?:sk|xai|pk|rk)-[\w-]{8,}/g, '[key]'],
  [/\bAIza[\w-]{20,}/g, '[key]'],
  [/\b(bearer|apikey|basic) +[^\s"\\]+/gi, '$1 [redacted]'],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"\\]+@/gi, '$1[redacted]@'],
];

/** Shorter ones would take ordinary words out of the log. */
const SHORTEST = 6;

/**
 * Takes credentials out of a text: the given ones wherever they stand, and whatever looks like one.
 * @param secrets the values this process was configured with.
 */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  // The longest first: one secret may be the beginning of another.
  const known = secrets
    .filter((secret) => secret.length >= SHORTEST)
    // As it is written within JSON, too.
    .flatMap((secret) => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])])
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, '[redacted]');
    for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
    return clean;
  };
}
