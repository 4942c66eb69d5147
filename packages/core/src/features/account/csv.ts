/** Spreadsheets calculate a cell that begins so, also after white space. */
const FORMULA = /^\s*[=+\-@\t\r\n|%]/;
const SPECIAL = /[",\r\n\t;]/;

/** One line of CSV as in RFC 4180. Text that a spreadsheet would take for a formula begins with an apostrophe. */
export function toCsvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(toCell).join(',')}\r\n`;
}

function toCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return toDecimal(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Without an exponent: small amounts would be shown as 1e-7. */
function toDecimal(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(6) : text;
}
