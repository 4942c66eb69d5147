import { globSync } from 'node:fs';
import { join } from 'node:path';
import * as operations from '@questline/client/operations';
import { describe, expect, it } from 'vitest';
import { compile, ROOT } from './compile.ts';

/** The type of the contract of each operation. */
async function findContracts(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const add = (value: unknown, type: string, isNested: boolean): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('output' in value && 'id' in value) found.set(String(value.id), type);
    else if (!isNested)
      for (const [name, inner] of Object.entries(value)) add(inner, `${type}['${name}']`, true);
  };
  for (const file of globSync(join(ROOT, 'packages/core/src/{features,operations}/**/*contract.ts')))
    for (const [name, value] of Object.entries(await import(file)))
      add(value, `(typeof import('${file}'))['${name}']`, false);
  const sharing = `import('${ROOT}/packages/core/src/features/sharing/contract.ts').ResourceOperations`;
  for (const id of Object.keys(operations).filter((one) => !found.has(one))) {
    const [, verb = '', noun = ''] = /^([a-z]+)[A-Z][a-z]+(Invites?|Sharing)?$/.exec(id) ?? [];
    found.set(id, `${sharing}['${verb}${noun}']`);
  }
  return found;
}

const HEAD = `
import type { EventStream, Frame, Operation } from '@questline/client';
import type * as operations from '@questline/client/operations';
import type * as z from 'zod';

type Input<T> = T extends Operation<infer I, unknown> ? I : never;
type Output<T> = T extends Operation<unknown, infer O> ? O : never;
/** Arrays of requests are readonly; those of the contract are not. */
type Mutable<T> = T extends Blob
  ? T
  : T extends readonly (infer E)[]
    ? Mutable<E>[]
    : T extends object
      ? { -readonly [K in keyof T]: Mutable<T[K]> }
      : T;
type Property<T, K extends string> = T extends { readonly [P in K]?: infer V } ? V : undefined;
/** A contract has \`unknown\` for schemas that functions make: the recorded examples check these. */
type Known<T> = unknown extends T
  ? any
  : T extends readonly (infer E)[]
    ? Known<E>[]
    : T extends object
      ? { [K in keyof T]: Known<T[K]> }
      : T;
type Body<C> = C extends { readonly input: { readonly body: infer S extends z.ZodType } } ? Known<z.input<S>> : undefined;
type Answers<C> = C extends { readonly output: infer O } ? Answer<O[keyof O]> : 'no contract';
type Answer<O> = O extends { readonly schema: infer S extends z.ZodType }
  ? O extends { readonly contentType: 'text/event-stream' }
    ? EventStream<Known<Frame<z.output<S>>>>
    : Known<z.output<S>>
  : Response | undefined;
declare function check<To>(): <From extends To>(from?: From) => void;
`;

/** Signed links and forms: their handlers read the bodies. */
const OTHER_BODIES = [
  'postObject: has no other bodies',
  'putObject: has no other bodies',
  'transcribeAtOnce: has all bodies',
  'transcribeAtOnce: has no other bodies',
];

async function createProgram(): Promise<string> {
  const lines = [HEAD];
  for (const [id, contract] of await findContracts()) {
    if (!(id in operations)) continue;
    const client = `typeof operations.${id}`;
    const body = `Mutable<Property<Input<${client}>, 'body'>>`;
    lines.push(
      `check<Output<${client}> | Response | undefined>()<Answers<${contract}>>(); // ${id}: has all answers`,
      `check<Answers<${contract}> | Response | undefined>()<Output<${client}>>(); // ${id}: has no other answers`,
      `check<Body<${contract}> | undefined>()<${body}>(); // ${id}: has no other bodies`,
      `check<${body} | undefined>()<Body<${contract}>>(); // ${id}: has all bodies`,
    );
  }
  return lines.join('\n');
}

describe('the types of every operation', () => {
  it('are those of its contract', async () => {
    const program = await createProgram();
    const rows = program.split('\n');
    const output = await compile(program, { extends: join(ROOT, 'tsconfig.json') });
    const wrong = [...output.matchAll(/^.*program\.ts\((\d+),.*/gm)].map(
      ([, row]) => rows[Number(row) - 1]?.split(' // ')[1],
    );
    expect(wrong.sort()).toEqual(OTHER_BODIES);
  });
});
