import { describe, expect, it } from 'vitest';
import { createListing } from './listing.ts';

function create(refreshMs: number) {
  const server = { now: 0, asked: 0 };
  const fetch = async () => {
    server.asked += 1;
    return { data: [{ id: 'm' }] };
  };
  const source = { provider: 'v', named: [], defaults: {}, fetch, fault: () => new Error('no list') };
  return { server, listing: createListing(source, { refreshMs, now: () => server.now }) };
}

describe('list of models of a server', () => {
  it('is loaded again by the first read at its age', async () => {
    const { server, listing } = create(1000);
    listing.current();
    await listing.refresh();
    server.now = 999;
    listing.current();
    expect(server.asked).toBe(1);
    server.now = 1000;
    listing.current();
    expect(server.asked).toBe(2);
    await listing.refresh();
  });

  it('is loaded by no read if it has no age', async () => {
    const { server, listing } = create(0);
    expect(listing.current()).toEqual([]);
    expect(server.asked).toBe(0);
    await listing.refresh();
    expect(listing.current()).toHaveLength(1);
    expect(server.asked).toBe(1);
  });
});
