import { parentPort, workerData } from 'node:worker_threads';

/*
 * Pings from a separate thread, so that it measures the delay of the server and not of its own event loop.
 * Sends the next ping 2 ms after each answer.
 */

const { url } = workerData as { readonly url: string };
const pings: { start: number; ms: number }[] = [];
let isOver = false;

parentPort?.once('message', () => {
  isOver = true;
});

while (!isOver) {
  const start = performance.timeOrigin + performance.now();
  await (await fetch(url)).text();
  pings.push({ start, ms: performance.timeOrigin + performance.now() - start });
  await new Promise((resolve) => setTimeout(resolve, 2));
}
parentPort?.postMessage(pings);
