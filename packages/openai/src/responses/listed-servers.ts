import type { ToolServerList } from '@questline/core/internal';
import type { WholeItem } from './contract-items.ts';
import { toMcpList } from './mcp-items.ts';

/** The lists of tools that a conversation has. */
export interface ListedServers {
  /** Whether the last list of this server is the same, so that it is not repeated. One that fails is, with its reason. */
  has(list: ToolServerList): boolean;
}

export function readListedServers(items: readonly WholeItem[]): ListedServers {
  const known = new Map<string, string>();
  for (const item of items) {
    if (item.type === 'mcp_list_tools') known.set(item.server_label, describe(item));
  }
  return {
    has: (list) => list.error === undefined && known.get(list.server) === describe(toMcpList(list, '')),
  };
}

/** Values in a fixed order; '' for a list that failed. */
function describe({ tools, error }: { readonly tools?: unknown; readonly error?: unknown }): string {
  return error == null ? JSON.stringify(toSorted(tools)) : '';
}

/** A store may change the order of fields. */
function toSorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSorted);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, toSorted(field)]));
}
