import type { StoredResponse } from '@questline/core/internal';
import * as z from 'zod';
import { inputItem, type WholeItem } from './contract-items.ts';
import { ItemWriter, type ItemWriterOptions } from './items.ts';
import type { ToolTable, WireTool } from './tools.ts';
import { type DescribedRequest, type ResponseItem, toIncompleteDetails } from './wire.ts';

/** What a stored response keeps of its request, as JSON text. */
export interface StoredWire {
  /** The fields of the response that repeat its request. */
  readonly request: DescribedRequest;
  readonly tools: ToolTable['entries'];
  /** What the client asks the items to include. Absent: nothing. */
  readonly include?: readonly string[];
  /** Characters of the conversation before the answer. */
  readonly size: number;
}

/** What the items of an answer are written with. */
export type WrittenWith = Pick<StoredWire, 'tools' | 'include'>;

/** An item with the id that clients know it by. */
export interface StoredItem {
  readonly id: string;
  readonly item: WholeItem;
}

export function readWire({ wire }: Pick<StoredResponse, 'wire'>): StoredWire {
  return JSON.parse(wire) as StoredWire;
}

/** How the items of a stored response are written. */
export function readItemOptions({
  tools,
  include = [],
}: WrittenWith): Omit<ItemWriterOptions, 'id' | 'sink'> {
  const table = new Map<string, WireTool>(tools);
  return { tools: { find: (modelName) => table.get(modelName) }, include, includesReasoning: true };
}

/** The items of the request of a stored response. */
export function readInput({ input }: Pick<StoredResponse, 'input'>): readonly StoredItem[] {
  return JSON.parse(input) as readonly StoredItem[];
}

/** The complete items of an answer, as clients get them. @param id of the response. */
export function toOutputItems(
  id: string,
  wire: WrittenWith,
  { parts, finishReason }: StoredResponse['output'],
): readonly ResponseItem[] {
  const items = new ItemWriter({
    ...readItemOptions(wire),
    id,
    sink: () => undefined,
  });
  for (const part of parts) items.add(part);
  items.close(toIncompleteDetails(finishReason) === null ? 'completed' : 'incomplete');
  return items.output;
}

/** Output items, as they are read when a client sends them back. What this server writes has no references. */
export function toStoredItems(output: readonly ResponseItem[]): readonly StoredItem[] {
  const read = items.parse(output);
  return output.map(({ id }, index) => ({ id, item: read[index] as WholeItem }));
}

/** Whether clients may refer to a response: not to one that only its conversation keeps. */
export function isReferable(response: Pick<StoredResponse, 'wire'>): boolean {
  return readWire(response).request.store !== false;
}

const items = z.array(inputItem);

/** The items of a response in order: those of its request, then those of its answer. */
export function getItems(response: StoredResponse): readonly StoredItem[] {
  const output = toOutputItems(response.id, readWire(response), response.output);
  return [...readInput(response), ...toStoredItems(output)];
}
