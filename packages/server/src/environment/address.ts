/** The sender of a mail. */
export interface MailAddress {
  readonly name: string | undefined;
  readonly address: string;
}

const FORM = /^(?:"?([^"<>\p{Cc}]*?)"? *<([^\s<>@,;]+@[^\s<>@,;]+)>|([^\s<>@,;]+@[^\s<>@,;]+))$/u;

/** Parses `sender@example.com` or `Name <sender@example.com>`. @returns undefined for anything else. */
export function readAddress(text: string): MailAddress | undefined {
  const [, name, named, bare] = FORM.exec(text) ?? [];
  const address = named ?? bare;
  return address === undefined ? undefined : { name: name || undefined, address };
}
