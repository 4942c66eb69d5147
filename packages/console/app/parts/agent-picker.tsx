import { Bot, Check } from 'lucide';
import { useLoad } from '../hooks.ts';
import type { Agent, CursorPage } from '../records.ts';
import { Icon } from './icon.tsx';
import { Menu } from './menu.tsx';

interface AgentPickerProps {
  readonly chosen: readonly Agent[];
  readonly onChange: (agents: readonly Agent[]) => void;
}

/** Chooses the agents that shape the answers of a conversation. */
export function AgentPicker({ chosen, onChange }: AgentPickerProps) {
  const names = chosen.map(({ name }) => name).join(', ');
  return (
    <Menu
      label={chosen.length === 0 ? 'Agents' : `Agents: ${names}`}
      buttonClass={`ghost chip${chosen.length > 0 ? ' on' : ''}`}
      isUp
      button={
        <>
          <Icon of={Bot} size={17} />
          <span class="chip-text">{chosen.length === 0 ? 'Agents' : names}</span>
        </>
      }
    >
      {() => <Choices chosen={chosen} onChange={onChange} />}
    </Menu>
  );
}

function Choices({ chosen, onChange }: AgentPickerProps) {
  const { data, error } = useLoad('agents', (get) => get<CursorPage<Agent>>('/api/v1/agents?limit=100'));
  const isChosen = ({ id }: Agent): boolean => chosen.some((one) => one.id === id);
  if (error !== undefined) return <p class="menu-note">{error}</p>;
  if (data === undefined) return <p class="menu-note">Loading…</p>;
  // An agent is called by its word.
  const callable = data.data.filter(({ trigger_words }) => trigger_words.length > 0);
  return (
    <>
      <p class="menu-note">Agents answer in this conversation.</p>
      {callable.length === 0 && <p class="menu-note">No agent has a trigger word yet.</p>}
      {callable.map((agent) => (
        <button
          key={agent.id}
          type="button"
          class="menu-item"
          aria-pressed={isChosen(agent)}
          onClick={() =>
            onChange(isChosen(agent) ? chosen.filter(({ id }) => id !== agent.id) : [...chosen, agent])
          }
        >
          <span>
            {agent.name} <span class="quiet">{agent.trigger_words[0]}</span>
          </span>
          {isChosen(agent) && <Icon of={Check} size={16} />}
        </button>
      ))}
      <a class="menu-item" href="#/agents">
        Manage agents
      </a>
    </>
  );
}
