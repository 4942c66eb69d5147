import type { ToolSchema } from '../../ports/models.ts';
import { invalid } from '../../shared/errors.ts';
import type { ToolRegistry, ToolScope } from '../../tools/registry.ts';

/** @throws ApiError 422 for tools of the client that the turn cannot offer. */
export async function checkClientTools(
  registry: ToolRegistry,
  scope: ToolScope,
  tools: readonly ToolSchema[],
  hasApprovals: boolean,
): Promise<void> {
  if (!hasApprovals && tools.length > 0) throw invalid('clientTools', 'requires `approvals: true`');
  const names = new Set<string>();
  for (const [at, { name }] of tools.entries()) {
    const path = `clientTools.${at}.name`;
    if (names.has(name)) throw invalid(path, 'must be unique');
    if ((await registry.find(name, scope)) !== undefined) {
      throw invalid(path, 'must not be the id of a tool of the server');
    }
    names.add(name);
  }
}
