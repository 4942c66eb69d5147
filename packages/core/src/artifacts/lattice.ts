import * as z from 'zod';
import { text } from '../http/text.ts';
import type { ToolContext, ToolResult } from '../tools/registry.ts';
import { defineTool, failed, type Tool } from '../tools/tool.ts';
import type { NewArtifact } from './artifacts.ts';

export const CREATE_LATTICE = 'create_lattice';

const MOST_COLUMNS = 50;
const MOST_ROWS = 2000;
const cell = z.union([text({ max: 2000 }), z.number(), z.boolean(), z.null()]);

/**
 * `create_lattice`: a table of data as an artifact. Its content is JSON, `{columns, rows}`.
 * @param keep keeps it, for the turn it was made in.
 */
export function latticeTool(keep: (wish: NewArtifact, context: ToolContext) => Promise<ToolResult>): Tool {
  return defineTool({
    id: CREATE_LATTICE,
    description:
      'Keeps a table of data as an artifact the user can go on working with: named columns, and rows of text, numbers or ' +
      'nothing. Use it when what the user wants is the table itself.',
    input: z.object({
      title: text({ min: 1, max: 255 }),
      columns: z
        .array(text({ min: 1, max: 100 }))
        .min(1)
        .max(MOST_COLUMNS),
      rows: z.array(z.array(cell).max(MOST_COLUMNS)).max(MOST_ROWS),
      description: text({ max: 1000 }).optional(),
    }),
    offered: 'requested',
    run({ columns, rows, ...wish }, context) {
      const crooked = rows.findIndex((row) => row.length !== columns.length);
      if (crooked >= 0) {
        return failed(`rows.${crooked}: expected as many values as columns, ${columns.length}`);
      }
      return keep({ ...wish, type: 'lattice', content: JSON.stringify({ columns, rows }) }, context);
    },
  });
}
