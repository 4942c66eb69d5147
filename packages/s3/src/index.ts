export { createS3Objects, type S3Options } from './objects.ts';
