import { describe, expect, it } from 'vitest';
import { fits, getConnectTool, getOffers } from '../src/offers.ts';

const inputSchema = { type: 'object' as const };
const server = { id: 'one', url: 'http://one.test' };
const named = (...names: readonly string[]) =>
  getOffers(
    server,
    names.map((name) => ({ name, inputSchema })),
  ).map(({ offer: { id } }) => id);

describe('the offer of a tool', () => {
  it('has a name that every model provider accepts', () => {
    expect(named('fail.hard', 'Räum auf', 'snake_case-9')).toEqual([
      'one__fail_hard',
      'one__R_um_auf',
      'one__snake_case-9',
    ]);
    expect(named('x'.repeat(59), 'y'.repeat(60))).toEqual([
      `one__${'x'.repeat(59)}`,
      `one__${'y'.repeat(59)}`,
    ]);
  });

  it('has a name of its own', () => {
    expect(named('a.b', 'a_b', 'a b', 'c')).toEqual(['one__a_b', 'one__a_b_2', 'one__a_b_3', 'one__c']);
    const long = 'x'.repeat(59);
    const ids = named(...Array.from({ length: 10 }, (_, index) => `${long}${index}`));
    expect(ids.slice(0, 2)).toEqual([`one__${long}`, `one__${'x'.repeat(57)}_2`]);
    expect(ids.at(-1)).toBe(`one__${'x'.repeat(56)}_10`);
    expect(new Set(ids.map(({ length }) => length))).toEqual(new Set([64]));
  });

  it('is described by its description, else by its title, else by its name', () => {
    const described = getOffers(server, [
      { name: 'a', title: 'Title', description: 'Description', inputSchema },
      { name: 'b', title: 'Title', inputSchema },
      { name: 'c', inputSchema },
    ]);
    expect(described.map(({ name, offer: { schema } }) => [name, schema])).toEqual([
      ['a', { name: 'one__a', description: 'Description', parameters: inputSchema }],
      ['b', { name: 'one__b', description: 'Title', parameters: inputSchema }],
      ['c', { name: 'one__c', description: 'c', parameters: inputSchema }],
    ]);
  });

  it('is gated as the server is configured', () => {
    const tools = [
      { name: 'reads', inputSchema, annotations: { readOnlyHint: true } },
      { name: 'writes', inputSchema, annotations: { readOnlyHint: false } },
      { name: 'silent', inputSchema },
    ];
    const gatedOf = (gated?: 'all' | 'unless-read-only' | 'none') =>
      getOffers({ ...server, ...(gated && { gated }) }, tools).map(({ offer }) => offer.gated ?? 'free');
    expect(gatedOf()).toEqual(['free', true, true]);
    expect(gatedOf('unless-read-only')).toEqual(['free', true, true]);
    expect(gatedOf('all')).toEqual([true, true, true]);
    expect(gatedOf('none')).toEqual(['free', 'free', 'free']);
    expect(getOffers(server, tools).map(({ isReadOnly }) => isReadOnly)).toEqual([true, false, false]);
  });

  it('begins the authorization by the user', () => {
    const description =
      'Connects the user to one, whose tools are available afterwards. Returns an address for the user to open.';
    expect(getConnectTool(server)).toEqual({
      name: 'connect',
      isReadOnly: true,
      connects: true,
      offer: {
        id: 'one__connect',
        schema: { name: 'one__connect', description, parameters: { type: 'object', properties: {} } },
        offered: 'automatic',
      },
    });
  });
});

describe('a message fits a tool', () => {
  const tool = (name: string, description = '-') => {
    const [made] = getOffers(server, [{ name, description, inputSchema }]);
    if (made === undefined) throw new Error('no offer');
    return made;
  };

  it('if it has a word of the name', () => {
    expect(fits(tool('createTicket'), 'A TICKET please')).toBe(true);
    expect(fits(tool('create_ticket'), 'We create things')).toBe(true);
    expect(fits(tool('createTicket'), 'tickets are createTickets')).toBe(true);
    expect(fits(tool('createTicket'), 'Some tickets')).toBe(false);
    expect(fits(tool('größeÄndern'), 'Kannst du das ändern?')).toBe(true);
    expect(fits(tool('order2026'), 'Look at order2026')).toBe(true);
  });

  it('if it has two words of the description', () => {
    const opening = tool('x', 'Opens a ticket for the office.');
    expect(fits(opening, 'Which ticket?')).toBe(false);
    expect(fits(opening, 'Which ticket, ticket or TICKET?')).toBe(false);
    expect(fits(opening, 'Which ticket of which office?')).toBe(true);
  });

  it('by words of four characters and more', () => {
    expect(fits(tool('add'), 'add the two')).toBe(false);
    expect(fits(tool('adds'), 'adds the two')).toBe(true);
    expect(fits(tool('x', 'for the old man'), 'for the old man')).toBe(false);
    expect(fits(tool('ticket'), '')).toBe(false);
    expect(fits(tool('ticket'), '?!')).toBe(false);
  });
});
