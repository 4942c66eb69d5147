import type { PersonalData } from '../../operations/personal-data.ts';
import type { Store } from '../../ports/store.ts';
import type { ToolRegistry } from '../../tools/registry.ts';
import { TOOL_CREDENTIALS } from './credential-records.ts';

/** The tokens of the user are revoked, not only deleted. */
export function personalTools({
  store,
  toolRegistry,
}: {
  readonly store: Store;
  readonly toolRegistry: ToolRegistry;
}): PersonalData {
  return {
    erase: [
      {
        shape: TOOL_CREDENTIALS,
        async erase({ id, serverId }, userId) {
          await toolRegistry.disconnect?.(userId, String(serverId));
          await store.collection(TOOL_CREDENTIALS).take(id);
        },
      },
    ],
  };
}
