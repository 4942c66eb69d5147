import * as z from 'zod';

/** The query parameter of lists that can show what others have shared with the caller. */
export const sharedQuery = {
  shared: z.enum(['true', 'false']).optional().meta({
    description:
      '`true`: only what other users have shared with the caller, with the `permission` of the share.',
  }),
};

/** The field of an entry in a list with `shared=true`. */
export const permission = z
  .enum(['read', 'write'])
  .optional()
  .meta({ description: "The caller's share. Present only in lists with `shared=true`." });
