export { createDirectoryObjects } from './objects.ts';
