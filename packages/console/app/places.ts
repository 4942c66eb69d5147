import {
  Bot,
  Building2,
  ChartColumn,
  ChartNoAxesColumn,
  Clapperboard,
  Database,
  FileText,
  FolderKanban,
  Gauge,
  type IconNode,
  Image,
  Inbox,
  KeyRound,
  PlugZap,
  ScrollText,
  Settings,
  Shapes,
  ShieldCheck,
  Ticket,
  UserRound,
  Users,
  UsersRound,
  Webhook,
} from 'lucide';

/** A page with an entry in a menu. */
export interface Place {
  readonly name: string;
  readonly title: string;
  readonly icon: IconNode;
}

export const LIBRARY: readonly Place[] = [
  { name: 'projects', title: 'Projects', icon: FolderKanban },
  { name: 'files', title: 'Files', icon: FileText },
  { name: 'artifacts', title: 'Artifacts', icon: Shapes },
  { name: 'images', title: 'Images', icon: Image },
  { name: 'generations', title: 'Video and music', icon: Clapperboard },
  { name: 'agents', title: 'Agents', icon: Bot },
  { name: 'data-lakes', title: 'Data lakes', icon: Database },
  { name: 'shared', title: 'Shared with me', icon: UsersRound },
];

export const ACCOUNT: readonly Place[] = [
  { name: 'profile', title: 'Profile', icon: UserRound },
  { name: 'usage', title: 'Usage', icon: ChartNoAxesColumn },
  { name: 'budgets', title: 'Budgets', icon: Gauge },
  { name: 'api-keys', title: 'API keys', icon: KeyRound },
  { name: 'provider-keys', title: 'Provider keys', icon: PlugZap },
  { name: 'webhooks', title: 'Webhooks', icon: Webhook },
  { name: 'organizations', title: 'Organizations', icon: Building2 },
  { name: 'invitations', title: 'Invitations', icon: Inbox },
];

export const ADMINISTRATION: readonly Place[] = [
  { name: 'settings', title: 'Settings', icon: Settings },
  { name: 'users', title: 'Users', icon: Users },
  { name: 'invites', title: 'Invites', icon: Ticket },
  { name: 'reports', title: 'Reports', icon: ChartColumn },
  { name: 'audit', title: 'Audit log', icon: ScrollText },
  { name: 'agent-requests', title: 'Public agents', icon: ShieldCheck },
];

/** The places of a menu, without those that the API leaves out. */
export function offered(places: readonly Place[], hidden: readonly string[]): readonly Place[] {
  return places.filter(({ name }) => !hidden.includes(name));
}
