const ACCOUNT = /^(?:user|organization):./;

/**
 * Ledgers check the account of a grant: credit of any other account could never be spent.
 * @throws RangeError for a name that is not `user:<id>` or `organization:<id>`.
 */
export function assertAccount(account: string): void {
  if (ACCOUNT.test(account)) return;
  throw new RangeError(
    `account: expected "user:<id>" or "organization:<id>", got ${JSON.stringify(account)}`,
  );
}
