import type { ModelPart, ToolRegistry, ToolServerOffer } from '@questline/core/ports';

/** A tool server `notes` with the tools `read` and `write`, as a registry of tools has it. */
export interface ScriptedToolServer {
  readonly registry: ToolRegistry;
  /** The calls in order. */
  readonly calls: { readonly userId: string; readonly tool: string; readonly input: unknown }[];
  /** Replaces what the tools return. */
  answer: ToolRegistry['run'];
  /** Why the server cannot list its tools. */
  error: string | undefined;
  tools: ToolServerOffer[];
}

export const NOTES_URL = 'https://notes.example.com/mcp';

const PARAMETERS = { type: 'object', properties: { text: { type: 'string' } } };

export function toOffer(name: string, isReadOnly: boolean): ToolServerOffer {
  const id = `notes__${name}`;
  const schema = { name: id, description: `Can ${name}.`, parameters: PARAMETERS };
  return { name, isReadOnly, offer: { id, schema, offered: 'requested' } };
}

export function createToolServer(): ScriptedToolServer {
  const server: ScriptedToolServer = {
    calls: [],
    tools: [toOffer('read', true), toOffer('write', false)],
    error: undefined,
    async answer({ tool, input }) {
      return { content: `${tool}: ${JSON.stringify(input)}`, isError: false };
    },
    registry: {
      list: () => [],
      find: (id) => server.tools.find(({ offer }) => offer.id === id)?.offer,
      select: () => [],
      async run(call, context) {
        server.calls.push({ userId: context.userId, tool: call.tool, input: call.input });
        return server.answer(call, context);
      },
      async listServer(id) {
        if (id !== 'notes') return undefined;
        const { error, tools } = server;
        return error === undefined ? { tools, url: NOTES_URL } : { tools: [], error, url: NOTES_URL };
      },
    },
  };
  return server;
}

export function callNotes(id: string, tool: 'read' | 'write', text = 'x'): ModelPart {
  return { type: 'tool_use', id, name: `notes__${tool}`, arguments: JSON.stringify({ text }) };
}
