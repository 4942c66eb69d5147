import { createFollower, followEvents } from '../../support/live-events.ts';

/** What a page reports about an answer that it has followed. */
export type Report = ReturnType<typeof toReport>;

function toReport({ text, reasoning, ids, resets, end }: Awaited<ReturnType<typeof followEvents>>) {
  return { text, reasoning, ids, resets, end };
}

/** Follows with `fetch`. */
async function read(path: string, key: string): Promise<Report> {
  return toReport(await followEvents({ url: path, key }));
}

/** Follows with `EventSource`, which connects again by itself. */
function listen(path: string): Promise<Report> {
  const follower = createFollower();
  const source = new EventSource(path);
  return new Promise((resolve) => {
    source.onmessage = ({ lastEventId, data }) => {
      follower.apply({ id: lastEventId, data: JSON.parse(data) });
      if (follower.end === undefined) return;
      source.close();
      resolve(toReport(follower));
    };
  });
}

Object.assign(globalThis, { questline: { read, listen } });
