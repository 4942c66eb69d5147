import type { StoredResponse } from '@questline/core/internal';
import * as z from 'zod';
import { inputItem, type WholeItem } from './contract-items.ts';
import { ItemWriter } from './items.ts';
import type { ToolTable, WireTool } from './tools.ts';
import type { DescribedRequest, ResponseItem } from './wire.ts';

/** What a stored response keeps of its request, as JSON text. */
export interface StoredWire {
  /** The fields of the response that repeat its request. */
  readonly request: DescribedRequest;
  readonly tools: ToolTable['entries'];
  /** Characters of the conversation before the answer. */
  readonly size: number;
}

/** An item with the id that clients know it by. */
export interface StoredItem {
  readonly id: string;
  readonly item: WholeItem;
}

export function readWire({ wire }: Pick<StoredResponse, 'wire'>): StoredWire {
  return JSON.parse(wire) as StoredWire;
}

/** The tools of a stored response, for its calls. */
export function readToolTable({ tools }: StoredWire): Pick<ToolTable, 'find'> {
  const table = new Map<string, WireTool>(tools);
  return { find: (modelName) => table.get(modelName) };
}

/** The items of the request of a stored response. */
export function readInput({ input }: Pick<StoredResponse, 'input'>): readonly StoredItem[] {
  return JSON.parse(input) as readonly StoredItem[];
}

/** The complete items of the answer, as clients get them. */
function getOutput(response: StoredResponse): readonly ResponseItem[] {
  const items = new ItemWriter({
    id: response.id,
    tools: readToolTable(readWire(response)),
    includesReasoning: true,
    sink: () => undefined,
  });
  for (const part of response.output.parts) items.add(part);
  items.close();
  return items.output;
}

const items = z.array(inputItem);

/** The items of a response in order: those of its request, then those of its answer. */
export function getItems(response: StoredResponse): readonly StoredItem[] {
  const output = getOutput(response);
  const read = items.parse(output);
  return [
    ...readInput(response),
    // What this server writes has no references.
    ...output.map(({ id }, index) => ({ id, item: read[index] as WholeItem })),
  ];
}
