import ts from 'typescript';

/** One change of a program: the text of a node is replaced. */
export interface Change {
  /** The kind of change, such as `condition`. */
  readonly kind: string;
  /** The new text, made of the texts of the parts of the node. */
  readonly text: string;
}

/** Writes the source text of a node. */
export type Print = (node: ts.Node) => string;

const BOUNDS: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
};

const OPPOSITES: Readonly<Partial<Record<ts.SyntaxKind, string>>> = {
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.MinusToken]: '+',
  [ts.SyntaxKind.AsteriskToken]: '/',
  [ts.SyntaxKind.SlashToken]: '*',
};

const LOGICAL: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);

/** A code of an error or a state, as opposed to a text for people. */
const CODE = /^[a-z]+(?:_[a-z]+)+$/;

/** Returns the changes of an expression. */
export function changeExpression(node: ts.Node, print: Print): readonly Change[] {
  if (ts.isBinaryExpression(node)) return changeBinary(node, print);
  if (ts.isAwaitExpression(node)) return [{ kind: 'await', text: print(node.expression) }];
  if (isCondition(node)) return changeCondition(node);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    return [{ kind: 'negation', text: `!!(${print(node.operand)})` }];
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [{ kind: 'boolean', text: 'false' }];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [{ kind: 'boolean', text: 'true' }];
  if (ts.isNumericLiteral(node)) return [{ kind: 'number', text: `${Number(node.text) + 1}` }];
  if (ts.isStringLiteral(node) && CODE.test(node.text))
    return [{ kind: 'code', text: `'${node.text}_other'` }];
  if (ts.isCallExpression(node)) return changeCall(node, print);
  return [];
}

function changeBinary(node: ts.BinaryExpression, print: Print): readonly Change[] {
  const { left, right, operatorToken } = node;
  if (LOGICAL.has(operatorToken.kind)) {
    // `...(x !== undefined && { x })`: an absent property and an undefined one mean the same.
    if (isOptionalProperty(node)) return [{ kind: 'operand', text: print(left) }];
    return [
      { kind: 'operand', text: print(left) },
      { kind: 'operand', text: print(right) },
    ];
  }
  const other = BOUNDS[operatorToken.kind];
  if (other !== undefined) return [{ kind: 'bound', text: `${print(left)} ${other} ${print(right)}` }];
  const opposite = OPPOSITES[operatorToken.kind];
  return opposite === undefined
    ? []
    : [{ kind: 'operator', text: `${print(left)} ${opposite} ${print(right)}` }];
}

function isOptionalProperty({ parent, left, right }: ts.BinaryExpression): boolean {
  if (!ts.isParenthesizedExpression(parent) || !ts.isSpreadAssignment(parent.parent)) return false;
  if (!ts.isBinaryExpression(left) || left.right.getText() !== 'undefined') return false;
  if (!ts.isObjectLiteralExpression(right) || right.properties.length !== 1) return false;
  const [property] = right.properties;
  if (property === undefined) return false;
  const value = ts.isPropertyAssignment(property) ? property.initializer : property.name;
  return value?.getText() === left.left.getText();
}

/** Comparisons and logical expressions have changes of their own. */
function isCondition(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isBinaryExpression(node) || ts.isPrefixUnaryExpression(node)) return false;
  return (
    (ts.isIfStatement(parent) && parent.expression === node) ||
    (ts.isConditionalExpression(parent) && parent.condition === node)
  );
}

function changeCondition(_node: ts.Node): readonly Change[] {
  return [
    { kind: 'condition', text: 'true' },
    { kind: 'condition', text: 'false' },
  ];
}

function changeCall(node: ts.CallExpression, print: Print): readonly Change[] {
  const { expression } = node;
  if (!ts.isPropertyAccessExpression(expression) || (node.flags & ts.NodeFlags.OptionalChain) !== 0)
    return [];
  const list = print(expression.expression);
  const parts = node.arguments.map(print).join(', ');
  switch (expression.name.text) {
    case 'filter':
    case 'slice':
    case 'trim':
    case 'toLowerCase':
    case 'toSorted':
      return [{ kind: 'call', text: list }];
    case 'some':
      return [{ kind: 'call', text: `${list}.every(${parts})` }];
    case 'every':
      return [{ kind: 'call', text: `${list}.some(${parts})` }];
    default:
      return [];
  }
}

/** Whether a program remains a program without the statement. */
export function canDrop(node: ts.Node): node is ts.ExpressionStatement | ts.ThrowStatement {
  if (ts.isThrowStatement(node)) return true;
  if (!ts.isExpressionStatement(node)) return false;
  const { expression } = node;
  const isSuper =
    ts.isCallExpression(expression) && expression.expression.kind === ts.SyntaxKind.SuperKeyword;
  return !isSuper && !ts.isStringLiteral(expression);
}

/** Whether a property of an object can be left out. */
export function canOmit(
  node: ts.Node,
): node is ts.PropertyAssignment | ts.ShorthandPropertyAssignment | ts.SpreadAssignment {
  return (
    ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node) || ts.isSpreadAssignment(node)
  );
}
