import * as z from 'zod';
import type { KeySpendCap, ModelList, TokenCaller } from '../contract/call.ts';
import { getScopeListIssue, type Scope } from '../contract/scopes.ts';
import type { HostIdentity } from '../ports/identity.ts';
import { countCharacters } from '../shared/characters.ts';
import { toModelLists } from './model-lists.ts';

const MAX_ID = 200;
const MAX_MODELS = 1000;

const count = z.int('expected a whole number').min(1, 'expected at least 1');

/** The id stays out of every message: messages reach logs. */
const externalId = z.string('expected text').superRefine((id, context) => {
  const length = countCharacters(id);
  const add = (message: string): void => context.addIssue({ code: 'custom', message });
  if (length === 0 || length > MAX_ID) add(`expected 1 to ${MAX_ID} characters, got ${length}`);
  // Databases cannot store these.
  else if (/\0|\p{Surrogate}/u.test(id)) add('expected text without U+0000 and lone surrogates');
});

const scopes = z.array(z.string(), 'expected a list of scopes').superRefine((list, context) => {
  const message = list.length === 0 ? undefined : getScopeListIssue(list as Scope[]);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const answerSchema = z.object(
  {
    externalId,
    email: z.string('expected text').nullish(),
    name: z.string('expected text').nullish(),
    organizationId: z.string('expected text').nullish(),
    roles: z.array(z.string(), 'expected a list of text').optional(),
    scopes: scopes.optional(),
    limits: z
      .object(
        {
          requestsPerMinute: count.optional(),
          requestsPerDay: count.optional(),
          models: z.array(z.string(), 'expected a list of models').max(MAX_MODELS).optional(),
          spendCap: z
            .object(
              {
                amount: z.int('expected whole micro-credits').min(0, 'expected at least 0'),
                period: z.enum(['day', 'month', 'total'], 'expected day, month or total'),
              },
              'expected an object',
            )
            .optional(),
        },
        'expected an object',
      )
      .optional(),
  },
  'expected an object, undefined or null',
);

/** Checks the answer of an identity. @throws TypeError that names each invalid field and quotes no id. */
export function parseHostIdentity(answer: unknown): HostIdentity {
  const result = answerSchema.safeParse(answer, { jitless: true });
  // Validated as scopes above; absent fields are left out.
  if (result.success) return result.data as HostIdentity;
  const issues = result.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  throw new TypeError(`identity.identify: ${issues.join('; ')}`);
}

/** The caller of a checked answer. A narrowed caller has no rights of an administrator, like an API key. */
export function toCaller(
  userId: string,
  { organizationId, roles = [], scopes: narrowedTo, limits = {} }: HostIdentity,
  modelLists: readonly ModelList[],
): TokenCaller {
  const { requestsPerMinute, requestsPerDay, spendCap, models } = limits;
  const own: readonly ModelList[] = models === undefined ? [] : [{ source: 'identity', models }];
  return {
    kind: 'token',
    userId,
    isAdmin: narrowedTo === undefined && roles.includes('admin'),
    isFromHost: true,
    ...(narrowedTo !== undefined && { scopes: narrowedTo as readonly Scope[] }),
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(requestsPerDay !== undefined && { requestsPerDay }),
    ...(spendCap !== undefined && { spendCap: spendCap satisfies KeySpendCap }),
    ...toModelLists(own, modelLists),
    ...(organizationId && { organizationId }),
  };
}
