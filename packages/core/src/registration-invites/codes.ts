import { hashSecret } from '../identity/secrets.ts';
import type { Filter, Store } from '../ports/store.ts';
import type { SecretBox } from '../provider-keys/secret-box.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './records.ts';

/** What is kept of a code: enough to know it again and, where there is a box, to show it again. */
export function keptOf(
  code: string,
  id: string,
  box: SecretBox | undefined,
): Pick<RegistrationInviteRecord, 'codeHash' | 'sealedCode'> {
  return {
    codeHash: hashSecret(code),
    ...(box !== undefined && { sealedCode: box.seal(code, placeOf(id)) }),
  };
}

/** The invite somebody has the code of. */
export function inviteWithCode(code: string): Filter<RegistrationInviteRecord> {
  return { anyOf: [{ codeHash: hashSecret(code) }, { code }] };
}

/** @returns null when nothing is kept that it could be read from. */
export function codeOfInvite(
  { id, code, sealedCode }: RegistrationInviteRecord,
  box: SecretBox | undefined,
): string | null {
  if (code !== undefined) return code;
  return sealedCode === undefined ? null : (box?.open(sealedCode, placeOf(id)) ?? null);
}

/** Rewrites what an earlier version kept in clear, or still does while both run. The codes go on working. */
export async function hideClearCodes(services: {
  readonly store: Store;
  readonly secretBox?: SecretBox;
}): Promise<void> {
  const invites = services.store.collection(REGISTRATION_INVITES);
  for (;;) {
    const inClear = await invites.find({ code: { not: null } });
    if (inClear.length === 0) return;
    for (const { id, code = '' } of inClear) {
      await invites.update(id, { ...keptOf(code, id, services.secretBox), code: undefined });
    }
  }
}

/** What a sealed code is bound to. */
function placeOf(id: string): readonly string[] {
  return ['registration-invite', id];
}
