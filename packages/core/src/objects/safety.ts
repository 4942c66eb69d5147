const SAFE_IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
]);

/** Whether a browser may show it in its window: nothing in it can act there. All else is only ever saved. */
export function isSafeInline(mimeType: string): boolean {
  return SAFE_IMAGES.has(mimeType) || /^(?:audio|video)\//.test(mimeType) || mimeType === 'text/plain';
}
