import { Gauge, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useLoad, useSerialAction } from '../hooks.ts';
import { Field } from '../parts/field.tsx';
import { credits, wholeDate } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { Meter } from '../parts/meter.tsx';
import { Badge, Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { Budget } from '../records.ts';
import { BudgetForm } from './budget-form.tsx';
import { type BudgetScopes, getScopeName, useScopes } from './budget-names.ts';

const OWN = '';
const ALL = 'all';

/** The budgets of the user, of organizations, and for administrators all. */
export function Budgets() {
  const { ask, user } = useApp();
  const [shown, setShown] = useState(OWN);
  const [edited, setEdited] = useState<Budget | 'new'>();
  const scopes = useScopes();
  const list = useLoad(`budgets ${shown}`, (get) =>
    get<{ budgets: readonly Budget[] }>(`/api/budgets?limit=100${toQuery(shown)}`),
  );
  const { error, runInTurn } = useSerialAction();
  const remove = async ({ id, name }: Budget): Promise<void> => {
    const text = 'Calls are no longer limited by it. What it counted is lost.';
    if ((await ask({ title: `Delete “${name}”?`, text, action: 'Delete', isDanger: true })) === undefined)
      return;
    await runInTurn((call) => call('DELETE', `/api/budgets/${id}`));
    list.reload();
  };
  const budgets = list.data?.budgets;
  return (
    <View
      title="Budgets"
      lead="Limits of paid calls. All budgets that match a call apply, so the tightest decides."
      actions={
        <button type="button" class="primary" onClick={() => setEdited('new')}>
          <Icon of={Plus} /> New budget
        </button>
      }
    >
      {(user?.isAdmin || scopes.organization.length > 0) && (
        <div class="filter">
          <Field label="Show" hint="Yours are those on you, your API keys and your projects.">
            <select value={shown} onChange={(event) => setShown(event.currentTarget.value)}>
              <option value={OWN}>Yours</option>
              {user?.isAdmin && <option value={ALL}>All</option>}
              {scopes.organization.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
        </div>
      )}
      <ErrorMessage text={error} />
      <Waiting of={list} />
      {budgets?.length === 0 && (
        <Empty icon={Gauge} title="No budgets yet." hint="Create one to limit what calls may use." />
      )}
      <ul class="cards">
        {budgets?.map((budget) => (
          <li key={budget.id}>
            <BudgetCard
              budget={budget}
              scopes={scopes}
              onEdit={() => setEdited(budget)}
              onDelete={() => void remove(budget)}
            />
          </li>
        ))}
      </ul>
      {edited !== undefined && (
        <BudgetForm
          scopes={scopes}
          {...(edited !== 'new' && { budget: edited })}
          {...(shown !== OWN && shown !== ALL && { organizationId: shown })}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            list.reload();
          }}
        />
      )}
    </View>
  );
}

function toQuery(shown: string): string {
  if (shown === OWN) return '';
  return shown === ALL ? '&all=true' : `&scope=organization&scopeId=${shown}`;
}

interface CardProps {
  readonly budget: Budget;
  readonly scopes: BudgetScopes;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

function BudgetCard({ budget, scopes, onEdit, onDelete }: CardProps) {
  const { user } = useApp();
  const { name, limit, spent, reserved, left, action, models, ownKeys, windowEnd, editable } = budget;
  const isCredits = limit.unit === 'credits';
  const isConcurrent = limit.unit === 'concurrent';
  return (
    <article class="card budget" aria-label={name}>
      <h2>{name}</h2>
      <p class="quiet">
        {getScopeName(budget, scopes, user?._id)} · {models === null ? 'all models' : models.join(', ')}
        {ownKeys === 'ignore' && ' · without own provider keys'}
      </p>
      <Meter
        unit={isConcurrent ? 'at the same time' : limit.unit}
        limit={limit.amount}
        {...{ spent, reserved, left }}
        show={(amount) => (isCredits ? credits(amount) : amount.toLocaleString())}
      />
      <p class="quiet">
        {windowEnd === null ? getEndless(isConcurrent) : `Starts again on ${wholeDate(windowEnd)}.`}{' '}
        {action === 'refuse' ? 'Calls above it are refused.' : 'Calls above it are made and reported.'}
      </p>
      {left === 0 && (
        <div class="badges">
          {action === 'refuse' ? (
            <Badge state="refused">limit reached: calls are refused</Badge>
          ) : (
            <Badge state="notify">limit reached</Badge>
          )}
        </div>
      )}
      {editable ? (
        <div class="row-actions">
          <button type="button" class="small" aria-label={`Change ${name}`} onClick={onEdit}>
            Change
          </button>
          <button type="button" class="small danger-text" aria-label={`Delete ${name}`} onClick={onDelete}>
            Delete
          </button>
        </div>
      ) : (
        <p class="quiet">Administrators manage this budget.</p>
      )}
    </article>
  );
}

function getEndless(isConcurrent: boolean): string {
  return isConcurrent ? 'Counts running calls.' : 'Counts forever.';
}
