export { type BullQueue, type BullQueueOptions, createBullQueue } from './queue.ts';
