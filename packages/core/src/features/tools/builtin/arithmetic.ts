/** The error of an invalid expression. */
export class ArithmeticError extends Error {
  override readonly name = 'ArithmeticError';
}

const MAX_LENGTH = 500;
const MAX_DEPTH = 50;

const FUNCTIONS: Readonly<Record<string, (value: number) => number>> = {
  abs: Math.abs,
  ceil: Math.ceil,
  cos: Math.cos,
  exp: Math.exp,
  floor: Math.floor,
  ln: Math.log,
  log: Math.log10,
  round: Math.round,
  sin: Math.sin,
  sqrt: Math.sqrt,
  tan: Math.tan,
};

const CONSTANTS: Readonly<Record<string, number>> = { pi: Math.PI, e: Math.E };

/**
 * Evaluates an expression: numbers, `+ - * / % ^`, parentheses, a few functions, `pi` and `e`. A parser of its own,
 * because the expression comes from a model and must never be run as code.
 * @throws ArithmeticError for anything else, and for a result that is no finite number.
 */
export function evaluate(expression: string): number {
  if (expression.length > MAX_LENGTH) throw new ArithmeticError(`longer than ${MAX_LENGTH} characters`);
  const tokens = tokenize(expression);
  let at = 0;
  let depth = 0;

  const take = (token: string): boolean => {
    if (tokens[at] !== token) return false;
    at += 1;
    return true;
  };

  function sum(): number {
    let value = product();
    for (;;) {
      if (take('+')) value += product();
      else if (take('-')) value -= product();
      else return value;
    }
  }

  function product(): number {
    let value = signed();
    for (;;) {
      if (take('*')) value *= signed();
      else if (take('/')) value /= signed();
      else if (take('%')) value %= signed();
      else return value;
    }
  }

  /** The sign has lower precedence than the power: -2^2 is -4. */
  function signed(): number {
    deeper();
    const value = take('-') ? -signed() : take('+') ? signed() : power();
    depth -= 1;
    return value;
  }

  function power(): number {
    const base = operand();
    return take('^') ? base ** signed() : base;
  }

  function operand(): number {
    const token = tokens[at];
    if (token === undefined) throw new ArithmeticError('ends too early');
    at += 1;
    if (token === '(') return closed();
    if (/^[\d.]/.test(token)) return Number(token);
    const name = token.toLowerCase();
    if (Object.hasOwn(CONSTANTS, name)) return CONSTANTS[name] ?? Number.NaN;
    const apply = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (apply === undefined || !take('(')) throw new ArithmeticError(`'${token}' is not understood`);
    return apply(closed());
  }

  function closed(): number {
    const value = sum();
    if (!take(')')) throw new ArithmeticError('a parenthesis is not closed');
    return value;
  }

  function deeper(): void {
    depth += 1;
    if (depth > MAX_DEPTH) throw new ArithmeticError('nested too deeply');
  }

  const value = sum();
  if (at < tokens.length) throw new ArithmeticError(`'${tokens[at]}' is not expected there`);
  if (!Number.isFinite(value)) throw new ArithmeticError('the result is no finite number');
  return value;
}

function tokenize(expression: string): string[] {
  const pattern = /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([a-z]+)|([-+*/%^()]))/giy;
  const tokens: string[] = [];
  const text = expression.trimEnd();
  while (pattern.lastIndex < text.length) {
    const start = pattern.lastIndex;
    const match = pattern.exec(text);
    if (match === null) throw new ArithmeticError(`'${text.charAt(start)}' is not understood`);
    tokens.push(match[1] ?? match[2] ?? match[3] ?? '');
  }
  return tokens;
}
