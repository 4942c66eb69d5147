import type { Operation } from '@questline/core';
import { askedIn, worldOptionsOf } from '../support/cases.ts';
import { type Asked, createWire, type Wire } from '../support/wire.ts';
import type { WireCase } from '../wire/cases/case.ts';
import { CASES } from '../wire/cases/index.ts';

/** A request that goes well, in a world where it does. */
export interface UsualCall {
  readonly wire: Wire;
  readonly asked: Asked;
}

/** The first row of an operation's table that goes well, asked for but not sent yet. */
export async function usualCall(operation: Operation): Promise<UsualCall> {
  const row = usualRow(operation);
  const wire = await createWire(await worldOptionsOf(operation, row));
  return { wire, asked: await askedIn(operation, row, wire.world) };
}

function usualRow({ id }: Operation): WireCase {
  const row = CASES[id]?.find(({ status }) => status < 400);
  if (row === undefined) throw new Error(`the table of answers shows no success of ${id}`);
  return row;
}
