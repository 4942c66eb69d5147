import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useAction } from '../hooks.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText, getTexts } from '../parts/field.tsx';
import { ModelChoices } from '../parts/model-choices.tsx';
import type { Budget } from '../records.ts';
import { type BudgetScopes, UNITS } from './budget-names.ts';

type Scope = Budget['scope'];

const SCOPES: Readonly<Record<Scope, string>> = {
  user: 'A user',
  key: 'An API key',
  project: 'A project',
  organization: 'An organization',
  everyone: 'Everyone',
};

const WINDOWS: Readonly<Record<string, string>> = {
  minute: 'Minute',
  hour: 'Hour',
  day: 'Day',
  week: 'Week, from Monday',
  month: 'Month',
  total: 'Forever',
};

interface FormProps {
  readonly scopes: BudgetScopes;
  /** Absent: a new one. */
  readonly budget?: Budget;
  /** The organization of a new one. */
  readonly organizationId?: string;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** The dialog that creates a budget or changes it. */
export function BudgetForm({ budget, scopes, organizationId, onClose, onSaved }: FormProps) {
  const { busy, error, run } = useAction();
  const [unit, setUnit] = useState(budget?.limit.unit ?? 'credits');
  const save = (form: HTMLFormElement) =>
    run(async (call) => {
      const amount = Number(getText(form, 'amount'));
      const common = { action: getText(form, 'action'), ownKeys: getText(form, 'ownKeys') };
      const name = getText(form, 'name');
      const named = { ...common, ...(name !== '' && { name }) };
      if (budget !== undefined) await call('PATCH', `/api/budgets/${budget.id}`, { ...named, amount });
      else await call('POST', '/api/budgets', { ...named, ...getNew(form, unit), limit: { unit, amount } });
      onSaved();
    });
  return (
    <Dialog title={budget === undefined ? 'New budget' : 'Change the budget'} onClose={onClose}>
      <DialogForm
        onSubmit={(form) => void save(form)}
        error={error}
        busy={busy}
        submit={budget === undefined ? 'Create budget' : 'Save'}
      >
        {budget === undefined && (
          <>
            <ScopeFields scopes={scopes} organizationId={organizationId} />
            <div class="row">
              <Field label="Limit of">
                <select name="unit" value={unit} onChange={(event) => setUnit(event.currentTarget.value)}>
                  {Object.entries(UNITS).map(([value, label]) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                </select>
              </Field>
              {unit !== 'concurrent' && (
                <Field label="Per">
                  <select name="window" defaultValue="month">
                    {Object.entries(WINDOWS).map(([value, label]) => (
                      <option key={value} value={value} selected={value === 'month'}>
                        {label}
                      </option>
                    ))}
                  </select>
                </Field>
              )}
            </div>
          </>
        )}
        <Field label={`Amount (${UNITS[unit]?.toLowerCase()})`}>
          <input
            name="amount"
            type="number"
            required
            min={unit === 'credits' ? 0.000001 : 1}
            max={1_000_000_000}
            step={unit === 'credits' ? 'any' : 1}
            defaultValue={budget?.limit.amount}
          />
        </Field>
        <Field label="Above the limit" hint="A refusal says which budget refused, and when it starts again.">
          <select name="action">
            <option value="refuse">Refuse calls</option>
            <option value="notify" selected={budget?.action === 'notify'}>
              Make calls, and report 50, 80 and 100 %
            </option>
          </select>
        </Field>
        <Field label="Calls with your own provider keys">
          <select name="ownKeys">
            <option value="count">Count</option>
            <option value="ignore" selected={budget?.ownKeys === 'ignore'}>
              Do not count
            </option>
          </select>
        </Field>
        <Field label="Name" hint="Refusals contain it. Default: made of the limit.">
          <input name="name" maxLength={100} defaultValue={budget?.name} />
        </Field>
        {budget === undefined && (
          <ModelChoices summary="Only some models" legend="Without a choice, calls of all models count." />
        )}
      </DialogForm>
    </Dialog>
  );
}

/** Selects the calls that count. */
function ScopeFields({
  scopes,
  organizationId,
}: {
  scopes: BudgetScopes;
  organizationId: string | undefined;
}) {
  const { user } = useApp();
  const [scope, setScope] = useState<Scope>(organizationId === undefined ? 'user' : 'organization');
  const isOffered = (one: Scope): boolean => {
    if (one === 'user') return true;
    return one === 'everyone' ? user?.isAdmin === true : scopes[one].length > 0;
  };
  const choices = scope === 'user' || scope === 'everyone' ? [] : scopes[scope];
  return (
    <div class="row">
      <Field label="Calls of">
        <select name="scope" value={scope} onChange={(event) => setScope(event.currentTarget.value as Scope)}>
          {(Object.keys(SCOPES) as Scope[]).filter(isOffered).map((one) => (
            <option key={one} value={one}>
              {one === 'user' && !user?.isAdmin ? 'You' : SCOPES[one]}
            </option>
          ))}
        </select>
      </Field>
      {scope === 'user' && user?.isAdmin && (
        <Field label="Id of the user">
          <input name="scopeId" required maxLength={200} defaultValue={user._id} />
        </Field>
      )}
      {choices.length > 0 && (
        <Field label="Which one">
          <select name="scopeId">
            {choices.map(({ id, name }) => (
              <option key={id} value={id} selected={id === organizationId}>
                {name}
              </option>
            ))}
          </select>
        </Field>
      )}
    </div>
  );
}

/** The fields that only a new budget has. */
function getNew(form: HTMLFormElement, unit: string): object {
  const scopeId = getText(form, 'scopeId');
  const models = getTexts(form, 'models');
  return {
    scope: getText(form, 'scope'),
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(scopeId !== '' && { scopeId }),
    ...(models.length > 0 && { models }),
    ...(unit !== 'concurrent' && { window: getText(form, 'window') }),
  };
}
