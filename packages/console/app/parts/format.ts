const UNITS = ['B', 'kB', 'MB', 'GB'];
const DAY_MS = 86_400_000;

/** A short date: the time for today, the year only for other years. */
export function when(time: string | null): string {
  if (time === null) return '–';
  const date = new Date(time);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) {
    return date.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  }
  const isThisYear = date.getFullYear() === now.getFullYear();
  return date.toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'short',
    ...(!isThisYear && { year: 'numeric' }),
  });
}

export function wholeDate(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** The heading under which a conversation is listed. */
export function age(time: string): string {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const then = new Date(time).getTime();
  if (then >= midnight) return 'Today';
  if (then >= midnight - DAY_MS) return 'Yesterday';
  return then >= midnight - 7 * DAY_MS ? 'Previous 7 days' : 'Older';
}

export function credits(amount: number): string {
  return amount.toLocaleString(undefined, { maximumFractionDigits: amount < 1 ? 6 : 2 });
}

export function size(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

export function initials(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  return (words.length > 1 ? `${words[0]?.[0]}${words.at(-1)?.[0]}` : name.slice(0, 2)).toUpperCase();
}

/** What a share permits, in words. */
export function permissionName(permission: 'read' | 'write'): string {
  return permission === 'write' ? 'Read and write' : 'Read';
}
