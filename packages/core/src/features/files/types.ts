/** `type/subtype`, without parameters. */
const MIME_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/;

/** Types that execute when opened. Hosts may choose other types: `settings.files.refusedTypes`. */
export const DEFAULT_REFUSED_TYPES: readonly string[] = [
  'application/vnd.android.package-archive',
  'application/vnd.microsoft.portable-executable',
  'application/java-archive',
  'application/x-apple-diskimage',
  'application/x-bat',
  'application/x-csh',
  'application/x-dosexec',
  'application/x-elf',
  'application/x-executable',
  'application/x-java-archive',
  'application/x-mach-binary',
  'application/x-ms-installer',
  'application/x-ms-shortcut',
  'application/x-msdos-program',
  'application/x-msdownload',
  'application/x-msi',
  'application/x-sh',
  'application/x-sharedlib',
  'application/hta',
];

/** In lower case, without parameters. @returns undefined for an invalid type. */
export function getEssence(mimeType: string): string | undefined {
  const essence = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return MIME_TYPE.test(essence) ? essence : undefined;
}
