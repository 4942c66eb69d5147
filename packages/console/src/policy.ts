/** The page's Content-Security-Policy: its own files and API, and the given origins. */
export function pagePolicy(elsewhere: readonly string[]): string {
  const others = elsewhere.map((origin) => ` ${origin}`).join('');
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data: blob:${others}`,
    `media-src 'self' blob:${others}`,
    `connect-src 'self'${others}`,
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * The policy of the frame that lays out diagrams. The layout library writes styles into its document, which the page
 * forbids; the sandbox gives the frame an origin of its own, without the page's storage, cookies and API.
 */
export const FRAME_POLICY = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');
