const SAFE_IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);

/** Whether a browser may display it inline: no active content is possible. Other types are downloads. */
export function isSafeInline(mimeType: string): boolean {
  return SAFE_IMAGES.has(mimeType) || /^(?:audio|video)\//.test(mimeType) || mimeType === 'text/plain';
}

/** Script types in any spelling, style sheets, and formats that load them into a page. */
const ACTIVE =
  /^(?:text|application)\/(?:[a-z0-9.+-]*(?:javascript|ecmascript|jscript|livescript)[a-z0-9.+-]*|css|wasm|xslt\+xml|xsl)$/;

/**
 * The type under which an uploaded object is served. Scripts and style sheets become plain text, which `nosniff` keeps
 * browsers from running: an upload never acts as script or style for a page of the same origin, whatever that page's policy.
 */
export function getServedType(contentType: string): string {
  const [essence = ''] = contentType.split(';');
  return ACTIVE.test(essence.trim().toLowerCase()) ? 'text/plain; charset=utf-8' : contentType;
}
