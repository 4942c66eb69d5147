/** Maximum delay of a Node timer. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Keeps the process alive until `work` ends. Timers of the system clock, which it may wait for, do not. */
export async function keepProcessAlive<T>(work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, MAX_DELAY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
