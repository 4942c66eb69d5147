/** Types that hosts rely on without writing them. `npm run check:types` checks this file; it never runs. */
import {
  answered,
  type Caller,
  createServices,
  defineOperation,
  defineRoute,
  defineTool,
  type Handler,
  type Reply,
  type Route,
  type Services,
  type Tool,
} from '@questline/core';
import { createMemoryPorts } from '@questline/core/memory';
import { defineCollection, type ModelProvider } from '@questline/core/ports';
import { expectTypeOf } from 'vitest';
import * as z from 'zod';

declare const models: readonly ModelProvider[];

const base = {
  id: 'greet',
  method: 'POST',
  path: '/api/greetings/{name}',
  summary: 'Greet a person',
  scopes: ['me:read'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller',
  family: 'public',
  input: {
    params: z.object({ name: z.string() }),
    query: z.object({ polite: z.stringbool().default(true) }),
    body: z.object({ times: z.int(), tags: z.array(z.string()).optional() }),
  },
  output: {
    200: {
      description: 'The greeting.',
      schema: z.object({ text: z.string(), count: z.number().default(1) }),
    },
    204: { description: 'No greeting.' },
  },
} as const;

const greet = defineOperation({ ...base, auth: 'key-or-token' });
const open = defineOperation({ ...base, auth: 'none' });

// defineOperation keeps the schemas, the statuses and the kind of authentication.
expectTypeOf(greet.auth).toEqualTypeOf<'key-or-token'>();
expectTypeOf<z.output<typeof greet.input.body>>().toEqualTypeOf<{
  times: number;
  tags?: string[] | undefined;
}>();
expectTypeOf<keyof typeof greet.output>().toEqualTypeOf<200 | 204>();
// @ts-expect-error: an operation has a known scope.
defineOperation({ ...base, auth: 'token', scopes: ['me:raed'] });
// @ts-expect-error: a path begins with a slash.
defineOperation({ ...base, auth: 'token', path: 'greetings' });

// createServices takes any set of ports, and its result satisfies every handler.
const services = createServices({ ...createMemoryPorts(), models }, { jwtSecret: 'secret' });
expectTypeOf(services).toEqualTypeOf<Services>();
// @ts-expect-error: model providers are required.
createServices(createMemoryPorts(), { jwtSecret: 'secret' });
// @ts-expect-error: settings have known names.
createServices({ ...createMemoryPorts(), models }, { jwtSecret: 'secret', jwtSceret: 'secret' });

// defineRoute gives the handler the output of the schemas, and takes their input as its result.
const route = defineRoute(greet, services, async ({ params, query, body }, call) => {
  expectTypeOf(params).toEqualTypeOf<{ name: string }>();
  expectTypeOf(query).toEqualTypeOf<{ polite: boolean }>();
  expectTypeOf(body).toEqualTypeOf<{ times: number; tags?: string[] | undefined }>();
  expectTypeOf(call.caller).toEqualTypeOf<Caller>();
  expectTypeOf(call.signal).toEqualTypeOf<AbortSignal>();
  return { text: params.name };
});
expectTypeOf(route).toEqualTypeOf<Route>();
defineRoute(open, services, async (_input, { caller }) => {
  expectTypeOf(caller).toEqualTypeOf<undefined>();
  return undefined;
});
// @ts-expect-error: the result follows the schema of a declared response.
defineRoute(greet, services, async () => ({ text: 1 }));
expectTypeOf<Awaited<ReturnType<Handler<typeof greet>>>>().toEqualTypeOf<
  { text: string; count?: number | undefined } | Reply | undefined
>();

// defineTool gives `run` the validated arguments.
const dice = defineTool({
  id: 'roll_dice',
  description: 'Rolls a dice.',
  input: z.object({ sides: z.int().default(6), label: z.string().optional() }),
  offered: 'default',
  run(input, { userId, signal }) {
    expectTypeOf(input).toEqualTypeOf<{ sides: number; label?: string | undefined }>();
    expectTypeOf(userId).toEqualTypeOf<string>();
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
    return answered(String(input.sides), { type: 'dice', payload: { sides: input.sides } });
  },
});
expectTypeOf(dice).toEqualTypeOf<Tool>();
// @ts-expect-error: a tool returns a result.
defineTool({ id: 'x', description: 'x', input: z.object({}), offered: 'default', run: () => 'text' });
// @ts-expect-error: the input of a tool is an object.
defineTool({ id: 'x', description: 'x', input: z.string(), offered: 'default', run: () => answered('') });

/** A text field whose name suggests a secret is declared. */
interface Ticket {
  readonly id: string;
  readonly accessToken?: string;
  readonly inputTokens: number;
}
const tickets = { name: 'tickets', columns: {}, unique: [], indexes: [] } as const;
defineCollection<Ticket>({ ...tickets, secretFields: { accessToken: true } });
// @ts-expect-error `secretFields` is missing.
defineCollection<Ticket>(tickets);
// @ts-expect-error `accessToken` is missing.
defineCollection<Ticket>({ ...tickets, secretFields: {} });
