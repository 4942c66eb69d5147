/**
 * Preloaded into a measured process, of this checkout or of another one: answers `live` with the bytes of its live objects. The
 * resident memory also depends on how much garbage the process made before.
 */
process.on('message', (question) => {
  if (question !== 'live') return;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ live: heapUsed + external });
});
