import * as z from 'zod';
import { flag, matching, parsed, text, url, WEB, whole } from './fields.ts';
import { readReplicas, readShards } from './forms.ts';

/** Where records, files and counters are kept. */
export const storageVariables = {
  DATABASE_URL: url(['postgres:', 'postgresql:'], {
    secret: true,
    meaning: 'PostgreSQL database; replaces the SQLite file in STORAGE_DIR',
  }),
  DATABASE_SHARDS: parsed(readShards, 'NAME=URL, several of them separated by spaces; no name is home', {
    secret: true,
    fallback: 'one database',
    meaning:
      'further PostgreSQL databases, to which questline move-owner moves users and organizations: NAME=URL, separated by spaces',
  }),
  DATABASE_REPLICAS: parsed(readReplicas, 'URL or NAME=URL, several of them separated by spaces', {
    secret: true,
    fallback: 'none',
    meaning:
      'streaming replicas that read lists and reports: URL for one of DATABASE_URL, NAME=URL for one of that shard, separated by spaces',
  }),
  DATABASE_POOL: whole(
    { min: 2, max: 1000, fallback: 10 },
    {
      meaning:
        'maximum PostgreSQL connections of this process to each database; one of them waits for notifications',
    },
  ),
  DATABASE_PREPARE: flag(true, {
    meaning:
      'keeps frequent statements prepared; false: for PgBouncer in transaction mode before version 1.21',
  }),
  DATABASE_LISTEN: flag(true, {
    meaning:
      'hears of new work by LISTEN; false: for PgBouncer in transaction mode; work then starts up to a second later',
  }),
  STORAGE_DIR: z.string().default('./data').meta({ meaning: 'folder for secrets, data and files' }),
  S3_ENDPOINT: url(WEB, { meaning: 'S3-compatible service for files; replaces STORAGE_DIR' }),
  S3_BUCKET: text({ meaning: 'bucket for files; it must exist' }),
  S3_REGION: z.string().default('us-east-1').meta({ meaning: 'region of the bucket' }),
  S3_ACCESS_KEY_ID: text({ meaning: 'access key with read and write permission' }),
  S3_SECRET_ACCESS_KEY: text({ meaning: 'secret of the access key' }),
  S3_PUBLIC_ENDPOINT: url(WEB, {
    fallback: 'bytes pass through this server',
    meaning: 'address at which browsers reach the S3 service; set it to let browsers transfer files directly',
  }),
  REDIS_URL: url(['redis:', 'rediss:'], {
    secret: true,
    meaning: 'Redis server; required for several processes',
  }),
  METRICS_TOKEN: matching(/^[\x21-\x7e]{16,}$/, '16 or more printable ASCII characters without spaces', {
    meaning: 'enables /metrics for requests with this bearer token; at least 16 characters',
    fallback: 'no metrics',
  }),
};
