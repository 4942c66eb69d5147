/** Patterns of credentials: our API keys and those of others, tokens, passwords in URLs. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/svc_(live|test)_[0-9A-Za-z]+/g, 'svc_$1_[redacted]'],
  [/eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, '[token]'],
  [/\b(?:sk|xai|pk|rk)-[\w-]{8,}/g, '[key]'],
  [/\bAIza[\w-]{20,}/g, '[key]'],
  [/\b(bearer|apikey|basic) +[^\s"\\]+/gi, '$1 [redacted]'],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"\\]+@/gi, '$1[redacted]@'],
];

/** Redacting shorter secrets would redact ordinary words. */
const MIN_LENGTH = 6;

/**
 * Redacts credentials in a text: the given secrets, and everything that matches a pattern.
 * @param secrets the secrets in the configuration.
 */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  // Longest first: one secret may be a prefix of another.
  const known = secrets
    .filter((secret) => secret.length >= MIN_LENGTH)
    // Also redact the secret as JSON escapes it.
    .flatMap((secret) => [...new Set([secret, JSON.stringify(secret).slice(1, -1)])])
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, '[redacted]');
    for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
    return clean;
  };
}
