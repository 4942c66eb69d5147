import type { SecretBox } from '../../models/secret-box.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './invite-records.ts';

/** The stored form of a code: a hash for lookup and, with an encryption key, a ciphertext for display. */
export function getKept(
  code: string,
  id: string,
  box: SecretBox | undefined,
): Pick<RegistrationInviteRecord, 'codeHash' | 'sealedCode'> {
  return {
    codeHash: hashSecret(code),
    ...(box !== undefined && { sealedCode: box.seal(code, getPlace(id)) }),
  };
}

/** Finds the invite of a code. */
export function inviteWithCode(code: string): Filter<RegistrationInviteRecord> {
  return { anyOf: [{ codeHash: hashSecret(code) }, { code }] };
}

/** @returns null when no readable form is stored. */
export function codeOfInvite(
  { id, code, sealedCode }: RegistrationInviteRecord,
  box: SecretBox | undefined,
): string | null {
  if (code !== undefined) return code;
  return sealedCode === undefined ? null : (box?.open(sealedCode, getPlace(id)) ?? null);
}

/** Rewrites codes that an earlier version stored in clear text, or still stores while both run. The codes stay valid. */
export async function hideClearCodes(services: {
  readonly store: Store;
  readonly secretBox?: SecretBox;
}): Promise<void> {
  const invites = services.store.collection(REGISTRATION_INVITES);
  for (;;) {
    const inClear = await invites.find({ code: { not: null } });
    if (inClear.length === 0) return;
    for (const { id, code = '' } of inClear) {
      await invites.update(id, { ...getKept(code, id, services.secretBox), code: undefined });
    }
  }
}

/** The associated data of an encrypted code. */
function getPlace(id: string): readonly string[] {
  return ['registration-invite', id];
}
