import { describe } from 'vitest';
import { describeForeignIds } from '../ownership/walk.ts';
import { shareShards } from '../support/shards.ts';

describe('two users on two shards', () => {
  const shards = shareShards();

  describeForeignIds(async () => ({ ports: await shards.fresh() }));
});
