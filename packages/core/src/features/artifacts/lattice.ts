import * as z from 'zod';
import { text } from '../../contract/text.ts';
import type { ToolContext, ToolResult } from '../../tools/registry.ts';
import { defineTool, failed, type Tool } from '../../tools/tool.ts';
import type { NewArtifact } from './artifacts.ts';

export const CREATE_LATTICE = 'create_lattice';

const MAX_COLUMNS = 50;
const MAX_ROWS = 2000;
const cell = z.union([text({ max: 2000 }), z.number(), z.boolean(), z.null()]);

const LATTICE_INPUT = z.object({
  title: text({ min: 1, max: 255 }),
  columns: z
    .array(text({ min: 1, max: 100 }))
    .min(1)
    .max(MAX_COLUMNS),
  rows: z.array(z.array(cell).max(MAX_COLUMNS)).max(MAX_ROWS),
  description: text({ max: 1000 }).optional(),
});

/**
 * `create_lattice`: creates a table of data as an artifact. Its content is JSON, `{columns, rows}`.
 * @param keep stores it for its turn.
 */
export function latticeTool(keep: (input: NewArtifact, context: ToolContext) => Promise<ToolResult>): Tool {
  return defineTool({
    id: CREATE_LATTICE,
    description:
      'Saves a table as an artifact that the user can edit: named columns, and rows of text, numbers or empty cells. Use it ' +
      'when the user wants the table itself.',
    input: LATTICE_INPUT,
    offered: 'requested',
    run({ columns, rows, ...input }, context) {
      const crooked = rows.findIndex((row) => row.length !== columns.length);
      if (crooked >= 0) {
        return failed(`rows.${crooked}: expected as many values as columns, ${columns.length}`);
      }
      return keep({ ...input, type: 'lattice', content: JSON.stringify({ columns, rows }) }, context);
    },
  });
}
