import type { ComponentChildren } from 'preact';
import { AgentRequests } from './agent-requests.tsx';
import { Agents } from './agents.tsx';
import { Artifacts } from './artifacts.tsx';
import { Audit } from './audit.tsx';
import { Budgets } from './budgets.tsx';
import { DataLakes } from './data-lakes.tsx';
import { DeviceLogin } from './device.tsx';
import { Files } from './files.tsx';
import { Generations } from './generations.tsx';
import { Images } from './images.tsx';
import { Invitations } from './invitations.tsx';
import { Invites } from './invites.tsx';
import { Keys } from './keys.tsx';
import { Organizations } from './organizations.tsx';
import { Profile } from './profile.tsx';
import { Projects } from './projects.tsx';
import { ProviderKeys } from './provider-keys.tsx';
import { Settings } from './settings.tsx';
import { SharedWithMe } from './shared.tsx';
import { Spent } from './usage.tsx';
import { Reports } from './usage-report.tsx';
import { Users } from './users.tsx';
import { Webhooks } from './webhooks.tsx';

/** Every page but the chat, by the first part of its address. The second part names a record. */
const PAGES: Readonly<Record<string, (id: string | undefined) => ComponentChildren>> = {
  'agent-requests': () => <AgentRequests />,
  'api-keys': () => <Keys />,
  'data-lakes': (id) => <DataLakes id={id} />,
  'provider-keys': () => <ProviderKeys />,
  device: (code) => <DeviceLogin code={code} />,
  agents: () => <Agents />,
  audit: () => <Audit />,
  artifacts: (id) => <Artifacts id={id} />,
  budgets: () => <Budgets />,
  files: () => <Files />,
  generations: () => <Generations />,
  images: () => <Images />,
  invitations: () => <Invitations />,
  invites: () => <Invites />,
  organizations: (id) => <Organizations id={id} />,
  profile: () => <Profile />,
  projects: (id) => <Projects id={id} />,
  reports: () => <Reports />,
  settings: () => <Settings />,
  shared: () => <SharedWithMe />,
  usage: () => <Spent />,
  users: () => <Users />,
  webhooks: (id) => <Webhooks id={id} />,
};

export function isPage(name: string): boolean {
  return Object.hasOwn(PAGES, name);
}

export function Page({ place, id }: { place: string; id: string | undefined }) {
  return <>{PAGES[place]?.(id)}</>;
}
