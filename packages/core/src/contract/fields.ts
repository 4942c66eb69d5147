import * as z from 'zod';

/** The field `name` of error bodies, in answers with a schema of their own. Removed from the description at its sunset. */
export const deprecatedName = z.string().optional().meta({
  deprecated: true,
  'x-sunset': '2026-12-01',
  description: 'Internal and unstable; removed on 2026-12-01.',
});
