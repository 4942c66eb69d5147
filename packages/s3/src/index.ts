export { type BucketState, lookAtBucket } from './bucket.ts';
export { createS3Objects, type S3Options } from './objects.ts';
