import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createHeap, type HeapItem } from './heap.ts';

interface Item extends HeapItem {
  key: number;
}

describe('a heap', () => {
  it('has its smallest item first after any sequence of changes', () => {
    const random = createRandom(5);
    const heap = createHeap<Item>((a, b) => a.key < b.key);
    const kept: Item[] = [];
    for (let step = 0; step < 3000; step += 1) {
      const item = kept[random.below(kept.length + 1)];
      if (item === undefined || kept.length < 30) {
        const added = { slot: -1, key: random.below(100) };
        heap.push(added);
        kept.push(added);
      } else if (random.chance(0.5)) {
        heap.remove(item);
        kept.splice(kept.indexOf(item), 1);
        expect(item.slot).toBe(-1);
      } else {
        item.key = random.below(100);
        heap.moved(item);
      }
      expect(heap.first()?.key).toBe(Math.min(...kept.map(({ key }) => key)));
      expect(heap.size()).toBe(kept.length);
    }
    const inOrder: number[] = [];
    for (let first = heap.first(); first !== undefined; first = heap.first()) {
      inOrder.push(first.key);
      heap.remove(first);
    }
    expect(inOrder).toEqual(kept.map(({ key }) => key).sort((a, b) => a - b));
    expect(heap.size()).toBe(0);
  });

  it('ignores items that it does not have', () => {
    const heap = createHeap<Item>((a, b) => a.key < b.key);
    const other = createHeap<Item>((a, b) => a.key < b.key);
    const [mine, theirs, none] = [3, 1, 2].map((key) => ({ slot: -1, key })) as [Item, Item, Item];
    heap.push(mine);
    other.push(theirs);
    for (const item of [theirs, none]) {
      heap.remove(item);
      heap.moved(item);
    }
    expect([heap.first(), heap.size(), theirs.slot, none.slot]).toEqual([mine, 1, 0, -1]);
    expect(other.first()).toBe(theirs);
  });
});
