import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ANTHROPIC } from './anthropic.ts';
import { createGuardedApp } from './app.ts';
import { GUARDS } from './guards.ts';
import { MCP } from './mcp.ts';
import { OPENAI } from './openai.ts';
import { OWN, UI_CHAT } from './own.ts';

const WIRES = [OWN, UI_CHAT, OPENAI, ANTHROPIC, MCP];
const VENDORS = [OPENAI, ANTHROPIC, MCP];
/** Packages whose paths have no vendor's format and call no model: users connect tool servers. */
const UNPAID = ['mcp'];

const app = await createGuardedApp();
const TABLE = await Promise.all(
  WIRES.map(async (wire) => ({ wire, name: wire.name, served: await wire.list(app) })),
);

describe('the table of guards', () => {
  it('has a row for every package with a wire that calls models', () => {
    const sources = globSync('packages/{[!c]*,c[!o]*}/src/**/*.ts').map((path) => ({
      name: path.split(/[\\/]/)[1] ?? '',
      text: readFileSync(path, 'utf8'),
    }));
    const served = new Set(
      sources.filter(({ text }) => text.includes('createWire(')).map(({ name }) => name),
    );
    for (const name of UNPAID) {
      served.delete(name);
      expect(sources.filter((one) => one.name === name && one.text.includes('paid: true'))).toEqual([]);
    }
    expect(VENDORS.map((wire) => wire.package).sort()).toEqual([...served].sort());
  });

  it.each(TABLE)('has a row for every operation of $name', ({ wire, served }) => {
    const rows = new Set(wire.operations.map(({ id }) => id));
    expect([...rows].sort()).toEqual(served.map(({ id }) => id).sort());
  });

  it('has every paid operation of a wire in its own form too', () => {
    const own = new Set(OWN.operations.map(({ id }) => id));
    const routes = new Map(app.api.routes.map(({ operation }) => [operation.id, operation]));
    for (const { wire, served } of TABLE) {
      for (const { id, counterpart, isPaid } of served) {
        const route = routes.get(counterpart);
        expect([id, counterpart, route?.id]).toEqual([id, counterpart, counterpart]);
        const isFree = wire.operations.some((one) => one.id === id && one.unpaid !== undefined);
        expect([id, isPaid]).toEqual([id, route?.paid === true && !isFree]);
        if (isPaid) expect([id, own.has(counterpart)]).toEqual([id, true]);
      }
    }
  });
});

describe('idempotency keys', () => {
  it.each(TABLE)('are declared where they have an effect: $name', ({ wire, served }) => {
    const declared = served.filter(({ isIdempotent }) => isIdempotent).map(({ id }) => id);
    const found = wire.operations.filter(({ repeat }) => repeat === 'replayed').map(({ id }) => id);
    expect([...new Set(found)].sort()).toEqual(declared.sort());
  });
});

describe.each(TABLE)('every operation of $name', ({ wire, served }) => {
  const cells = wire.operations.map((operation) => {
    const found = served.find(({ id }) => id === operation.id);
    if (found === undefined) throw new Error(`${wire.name} has no ${operation.id}`);
    return { wire, operation, served: found, title: operation.title };
  });
  describe.each(GUARDS)('has $title', (guard) => {
    it.each(cells.filter((cell) => guard.applies(cell)))('$title', (cell) => guard.check(cell));
  });
});
