import ts from 'typescript';
import { canDrop, canOmit, changeExpression } from './mutators.ts';

/** A change of the program that a run can switch on. */
export interface Mutant {
  readonly id: number;
  /** Relative to the repository. */
  readonly file: string;
  readonly line: number;
  /** The text of the line. */
  readonly on: string;
  readonly kind: string;
  readonly before: string;
  readonly after: string;
  /** The place in the source that the text replaces. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Instrumented {
  /** The program with all changes in it, each behind `__mutants.on(id)`. */
  readonly code: string;
  readonly mutants: readonly Mutant[];
}

/** Puts all changes of a source file into its text. @param firstId the id of the first change. */
export function instrument(file: string, source: string, firstId: number): Instrumented {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants: Mutant[] = [];
  const lines = source.split('\n');

  const add = (node: ts.Node, kind: string, after: string, text = `(${after})`): number => {
    const id = firstId + mutants.length;
    const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
    mutants.push({
      id,
      file,
      line: line + 1,
      on: lines[line]?.trim() ?? '',
      kind,
      before: shorten(node.getText()),
      after: shorten(after),
      ...{ start: node.getStart(), end: node.getEnd(), text },
    });
    return id;
  };

  /** The text of a node without changes in it: what a change puts in the place of the whole. */
  const plain = (node: ts.Node): string => node.getText();

  const print = (node: ts.Node): string => {
    if (isFixed(node)) return plain(node);
    const own = ts.isObjectLiteralExpression(node) && !isTarget(node) ? printObject(node) : printParts(node);
    if (canDrop(node)) return `{ if (!__mutants.on(${add(node, 'statement', '', '{}')})) { ${own} } }`;
    if (!isReplaceable(node)) return own;
    return changeExpression(node, plain).reduce(
      (text, { kind, text: changed }) =>
        `(__mutants.on(${add(node, kind, changed)}) ? (${changed}) : (${text}))`,
      own,
    );
  };

  /** The text of a node with the changes of its parts. */
  const printParts = (node: ts.Node): string => {
    let text = '';
    let place = node.getStart();
    ts.forEachChild(node, (child) => {
      if (child.getStart() < place) return;
      text += source.slice(place, child.getStart()) + print(child);
      place = child.getEnd();
    });
    return text + source.slice(place, node.getEnd());
  };

  const printObject = (node: ts.ObjectLiteralExpression): string => {
    const properties = node.properties.map((property) => {
      const own = printParts(property);
      if (!canOmit(property)) return own;
      return `...(__mutants.on(${add(property, 'property', '', '...{}')}) ? {} : { ${own} })`;
    });
    return `{ ${properties.join(', ')} }`;
  };

  const code = printParts(tree);
  return { code: source.slice(0, tree.getStart()) + code, mutants };
}

/** Types, names and module paths are no part of what runs. */
function isFixed(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTypeParameterDeclaration(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    (ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(isDeclare))
  );
}

function isDeclare({ kind }: ts.Modifier): boolean {
  return kind === ts.SyntaxKind.DeclareKeyword || kind === ts.SyntaxKind.AbstractKeyword;
}

/** Whether an expression may stand in parentheses with another one. */
function isReplaceable(node: ts.Node): boolean {
  const { parent } = node;
  if (isTarget(node)) return false;
  if (ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent) || ts.isMethodDeclaration(parent)) {
    if (parent.name === node) return false;
  }
  if (ts.isBindingElement(parent) && parent.propertyName === node) return false;
  // The rest of an optional chain belongs to its beginning.
  if (ts.isNonNullExpression(parent) || (node.flags & ts.NodeFlags.OptionalChain) !== 0) return false;
  return !ts.isLiteralTypeNode(parent) && !ts.isEnumMember(parent);
}

/** Whether a value is assigned to the node. */
function isTarget(node: ts.Node): boolean {
  const { parent } = node;
  return (
    ts.isBinaryExpression(parent) &&
    parent.left === node &&
    parent.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    parent.operatorToken.kind <= ts.SyntaxKind.LastAssignment
  );
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}
