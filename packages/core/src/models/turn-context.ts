const OPENING =
  '<context>\nThe workspace added this context to the message below. The user did not write it.\n\n';
const CLOSING = '\n</context>';

/** Wraps text that is inserted before a message. Escapes the closing tag. */
export function wrapContext(text: string): string {
  return `${OPENING}${text.replaceAll(/<(\s*\/?\s*context)/gi, '< $1')}${CLOSING}`;
}

export function isContext(text: string): boolean {
  return text.startsWith(OPENING) && text.endsWith(CLOSING);
}
