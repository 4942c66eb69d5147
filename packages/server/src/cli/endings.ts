const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const LOOK_MS = 500;

/**
 * Calls back at every request to end this process: a signal, or the end of the shell that an npm script runs in. Asked to
 * end, npm ends that shell and forgets what runs inside; the server would go on with nobody to stop it.
 * @returns stops listening.
 */
export function onEnd(listener: () => void): () => void {
  for (const signal of SIGNALS) process.on(signal, listener);
  const parent = process.ppid;
  const timer =
    process.env.npm_lifecycle_event === undefined
      ? undefined
      : setInterval(() => {
          if (process.ppid === parent) return;
          clearInterval(timer);
          listener();
        }, LOOK_MS);
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener);
    clearInterval(timer);
  };
}
