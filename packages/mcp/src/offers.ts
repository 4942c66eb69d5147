import type { Tool } from '@modelcontextprotocol/client';
import type { ToolServerOffer } from '@questline/core/ports';
import type { McpServerOptions } from './options.ts';

/** Maximum length of a tool name that every model provider accepts. */
const MAX_NAME = 64;

/** A tool of a server, under a unique name. `connects`: it begins the authorization by the user. */
export type McpTool = ToolServerOffer;

/** Stands for the tools of a server that the user has not authorized. */
export function getConnectTool({ id: serverId }: McpServerOptions): McpTool {
  const id = `${serverId}__connect`;
  const description = `Connects the user to ${serverId}, whose tools are available afterwards. Returns an address for the user to open.`;
  return {
    name: 'connect',
    isReadOnly: true,
    connects: true,
    offer: {
      id,
      schema: { name: id, description, parameters: { type: 'object', properties: {} } },
      offered: 'automatic',
    },
  };
}

export function getOffers(server: McpServerOptions, tools: readonly Tool[]): readonly McpTool[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const id = freeName(`${server.id}__${tool.name.replace(/[^a-zA-Z0-9_-]/g, '_')}`, taken);
    taken.add(id);
    const description = tool.description ?? tool.title ?? tool.name;
    const gated = isGated(server, tool);
    return {
      name: tool.name,
      isReadOnly: tool.annotations?.readOnlyHint === true,
      offer: {
        id,
        schema: { name: id, description, parameters: tool.inputSchema },
        offered: 'automatic',
        ...(gated && { gated }),
      },
    };
  });
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted.slice(0, MAX_NAME);
  for (let count = 2; taken.has(name); count += 1) {
    const suffix = `_${count}`;
    name = wanted.slice(0, MAX_NAME - suffix.length) + suffix;
  }
  return name;
}

function isGated({ gated = 'unless-read-only' }: McpServerOptions, { annotations }: Tool): boolean {
  if (gated === 'none') return false;
  return gated === 'all' || annotations?.readOnlyHint !== true;
}

/** Whether a message mentions a tool: one word of its name, or two of its description. */
export function fits({ name, offer }: McpTool, message: string): boolean {
  const said = splitWords(message);
  const common = (text: string): number => [...splitWords(text)].filter((word) => said.has(word)).length;
  return common(name) >= 1 || common(offer.schema.description) >= 2;
}

/** Significant words: four letters or more. */
function splitWords(text: string): Set<string> {
  const apart = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return new Set(apart.match(/[\p{L}\p{N}]{4,}/gu) ?? []);
}
