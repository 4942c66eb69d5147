import type { Payer } from '../contract/call.ts';
import type { CapUnit } from '../ports/caps.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { type BudgetWindow, getWindowRange, type WindowRange } from './budget-windows.ts';

export const BUDGET_SCOPES = ['key', 'user', 'organization', 'project', 'everyone'] as const;

export type BudgetScope = (typeof BUDGET_SCOPES)[number];

export const BUDGET_UNITS = [
  'credits',
  'tokens',
  'requests',
  'concurrent',
] as const satisfies readonly CapUnit[];

const CAP_PREFIX = 'budget';
const TOTAL = 'total';

export const BUDGET_ACTIONS = ['refuse', 'notify'] as const;

/** One rule that limits paid calls. */
export interface BudgetRecord extends StoredRecord {
  readonly name: string;
  readonly scope: BudgetScope;
  /** Null for `everyone`. */
  readonly scopeId: string | null;
  /** `<scope>:<scopeId>`, or `everyone`. */
  readonly subject: string;
  /** Null: all models. */
  readonly models: readonly string[] | null;
  readonly window: BudgetWindow;
  readonly timeZone: string;
  readonly unit: CapUnit;
  /** In units; micro-credits for credits. */
  readonly amount: number;
  readonly action: (typeof BUDGET_ACTIONS)[number];
  /** Whether calls with a provider key of the user count. */
  readonly ownKeys: 'count' | 'ignore';
  /** `owner`: the user of the scope, or administrators of the organization, may change the rule. */
  readonly managedBy: 'owner' | 'administrator';
  /** The user of the scope: the user, or the owner of the key or the project. Null for other scopes. */
  readonly userId: string | null;
  /** Equal for rules that differ in name, amount and `ownKeys` only. */
  readonly signature: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const BUDGETS = defineCollection<BudgetRecord>({
  name: 'budgets',
  columns: {
    subject: 'text',
    userId: 'text',
    signature: 'text',
    createdAt: 'integer',
  },
  unique: [['signature']],
  indexes: [['subject', 'createdAt'], ['userId', 'createdAt'], ['createdAt']],
});

export function getSubject(scope: BudgetScope, scopeId: string | null): string {
  return scopeId === null ? scope : `${scope}:${scopeId}`;
}

/** The facts of a call that budgets match. */
export interface BudgetSubject {
  readonly account: string;
  readonly userId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly projectId?: string | undefined;
}

/** Returns the subjects of the rules that may concern a call. */
export function getSubjects({ account, userId, keyId, projectId }: BudgetSubject): readonly string[] {
  const subjects = ['everyone'];
  if (userId !== undefined) subjects.push(`user:${userId}`);
  if (keyId !== undefined) subjects.push(`key:${keyId}`);
  if (projectId !== undefined) subjects.push(`project:${projectId}`);
  if (account.startsWith('organization:')) subjects.push(account);
  return subjects;
}

/** A paid call before its hold. */
export interface BudgetedCall {
  readonly payer: Payer;
  readonly model?: string | undefined;
  /** The call uses a provider key of the user. */
  readonly isOwnKey: boolean;
  /** False: credits are not enforced. */
  readonly isMetered: boolean;
  /** Maximum cost in micro-credits. */
  readonly amount: number;
  /** Maximum number of tokens. */
  readonly tokens: number;
}

/** Whether a rule of a call's subjects counts the call. */
export function isCounted(
  { models, unit, ownKeys }: BudgetRecord,
  { model, isOwnKey, isMetered }: Pick<BudgetedCall, 'model' | 'isOwnKey' | 'isMetered'>,
): boolean {
  if (models !== null && (model === undefined || !models.includes(model))) return false;
  if (isOwnKey && ownKeys === 'ignore') return false;
  return isMetered || unit !== 'credits';
}

/** What a call adds to a rule while it runs, in units of the rule. */
export function getReservedAmount({ unit }: BudgetRecord, { amount, tokens }: BudgetedCall): number {
  if (unit === 'credits') return amount;
  return unit === 'tokens' ? tokens : 1;
}

/** A rule in its current window. */
export interface CurrentBudget {
  readonly rule: BudgetRecord;
  /** Undefined: the window never ends. */
  readonly range: WindowRange | undefined;
  /** The id of the ledger's cap. */
  readonly capId: string;
}

export function getCurrentBudget(rule: BudgetRecord, now: number): CurrentBudget {
  const range = getWindowRange(rule.window, rule.timeZone, now);
  return { rule, range, capId: `${CAP_PREFIX}:${rule.id}:${range === undefined ? TOTAL : range.start}` };
}

/** Returns the rule of a cap and an instant in its window; undefined for a cap of something else. */
export function parseCapId(capId: string): { readonly ruleId: string; readonly instant: number } | undefined {
  const [prefix, ruleId, start] = capId.split(':');
  if (prefix !== CAP_PREFIX || ruleId === undefined) return undefined;
  return { ruleId, instant: start === TOTAL ? 0 : Number(start) };
}
