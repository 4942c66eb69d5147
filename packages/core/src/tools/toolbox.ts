import type { ToolOffer, ToolRegistry, ToolScope } from './registry.ts';
import type { Tool } from './tool.ts';

/** Creates a registry of fixed tools. @throws RangeError if two tools have the same id. */
export function createToolbox(tools: readonly Tool[]): ToolRegistry {
  const byId = new Map(tools.map((tool) => [tool.offer.id, tool]));
  if (byId.size < tools.length) throw new RangeError('two tools have the same id');
  const offers = tools.map(({ offer }) => offer);
  return {
    list: () => offers,
    find: (id) => byId.get(id)?.offer,
    select: (message) => tools.filter(({ fits }) => fits?.test(message)).map(({ offer }) => offer),
    async run({ tool, input }, context) {
      const found = byId.get(tool);
      return found === undefined
        ? { content: `There is no tool ${tool}.`, isError: true }
        : found.run(input, context);
    },
  };
}

/**
 * Combines registries. If two registries have the same tool id, the first one is used. A registry that fails is
 * treated as empty. @param onError called with the failure. Default: the failure is ignored.
 */
export function joinToolRegistries(
  registries: readonly ToolRegistry[],
  onError: (error: unknown) => void = () => undefined,
): ToolRegistry {
  const sheltered = registries.map((registry) => shelter(registry, onError));
  const [only] = sheltered;
  if (only !== undefined && sheltered.length === 1) return only;

  async function getOwner(id: string, scope: ToolScope): Promise<ToolRegistry | undefined> {
    for (const registry of sheltered) if ((await registry.find(id, scope)) !== undefined) return registry;
    return undefined;
  }

  async function collect(
    ask: (registry: ToolRegistry) => readonly ToolOffer[] | Promise<readonly ToolOffer[]>,
  ): Promise<readonly ToolOffer[]> {
    const lists = await Promise.all(sheltered.map(ask));
    const offers = new Map<string, ToolOffer>();
    for (const offer of lists.flat()) if (!offers.has(offer.id)) offers.set(offer.id, offer);
    return [...offers.values()];
  }

  return {
    list: (scope) => collect((registry) => registry.list(scope)),
    find: async (id, scope) => (await getOwner(id, scope))?.find(id, scope),
    select: (message, scope) => collect((registry) => registry.select(message, scope)),
    async run(call, context) {
      const owner = await getOwner(call.tool, context);
      return owner === undefined
        ? { content: `There is no tool ${call.tool}.`, isError: true }
        : owner.run(call, context);
    },
    async listServer(serverId, scope) {
      for (const registry of sheltered) {
        const found = await registry.listServer?.(serverId, scope);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    async disconnect(userId, serverId) {
      for (const registry of sheltered) await registry.disconnect?.(userId, serverId);
    },
  };
}

function shelter(registry: ToolRegistry, onError: (error: unknown) => void): ToolRegistry {
  const attempt = <T>(ask: () => T | Promise<T>, otherwise: T): T | Promise<T> => {
    const fail = (error: unknown): T => {
      onError(error);
      return otherwise;
    };
    try {
      const answer = ask();
      return answer instanceof Promise ? answer.catch(fail) : answer;
    } catch (error) {
      return fail(error);
    }
  };
  return {
    list: (scope) => attempt<readonly ToolOffer[]>(() => registry.list(scope), []),
    find: (id, scope) => attempt(() => registry.find(id, scope), undefined),
    select: (message, scope) => attempt<readonly ToolOffer[]>(() => registry.select(message, scope), []),
    run: (call, context) => registry.run(call, context),
    listServer: async (serverId, scope) => attempt(() => registry.listServer?.(serverId, scope), undefined),
    disconnect: async (userId, serverId) => attempt(() => registry.disconnect?.(userId, serverId), undefined),
  };
}
