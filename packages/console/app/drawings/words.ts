/** About so wide is a letter of a drawing, in its own units. */
const LETTER = 7.6;
export const LINE = 18;
const LONGEST_LINE = 26;

/** Breaks a label into lines: at `<br>`, at line breaks, and between words where a line would get long. */
export function linesOf(label: string): readonly string[] {
  const plain = label
    .replace(/^["'`]+|["'`]+$/g, '')
    .replace(/<br\s*\/?>|\\n/gi, '\n')
    .replaceAll('#quot;', '"');
  return plain.split('\n').flatMap((part) => {
    const lines: string[] = [];
    for (const word of part.trim().split(/\s+/)) {
      const last = lines.at(-1);
      if (last !== undefined && last.length + word.length < LONGEST_LINE)
        lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(word);
    }
    return lines;
  });
}

export function widthOf(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => line.length), 1) * LETTER;
}
