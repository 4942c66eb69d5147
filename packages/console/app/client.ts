import { type Client, createClient } from '@questline/client';
import type { Session } from './session.ts';

/** The client for event streams. @param root from the page to the root of the API. */
export function createEventClient(root: string, session: Session): Client {
  return createClient({
    baseUrl: new URL(root, location.href).href.replace(/\/$/, ''),
    async credential({ rejected }) {
      if (rejected !== undefined && !(await session.renew())) return undefined;
      return (await session.getToken()) ?? undefined;
    },
  });
}
