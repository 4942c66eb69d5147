const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const LOOK_MS = 500;

/**
 * Calls back on each request to stop this process: a signal, or the exit of the shell that an npm script runs in. On a
 * signal, npm ends that shell and leaves the server running.
 * @returns a function that stops listening.
 */
export function onShutdownSignal(listener: () => void): () => void {
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
