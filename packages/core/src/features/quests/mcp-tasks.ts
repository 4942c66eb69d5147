import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** Work that a client of the Model Context Protocol follows as a task of revision 2025-11-25. Its id is that of the task. */
export interface McpTaskRecord extends StoredRecord {
  readonly ownerId: string;
  readonly createdAt: number;
  /** The task, not its work, is unknown from then on. */
  readonly expiresAt: number;
}

export const MCP_TASKS = defineCollection<McpTaskRecord>({
  name: 'mcp_tasks',
  secretFields: {},
  columns: { ownerId: 'text', createdAt: 'integer', expiresAt: 'integer' },
  unique: [],
  indexes: [['ownerId', 'createdAt'], ['expiresAt']],
});
