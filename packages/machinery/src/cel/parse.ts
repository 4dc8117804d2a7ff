import { Environment, ParseError } from '@marcbachmann/cel-js';
import { CelSyntaxError } from './syntax-error.ts';

/**
 * Ast is a parsed expression. The library's parser is used for its grammar, positions and limits. Checking and
 * evaluation are our own, because the library's run time differs from the API server: JavaScript regular expressions,
 * positions in UTF-16 units, a substring `in`, times with millisecond precision, unchecked fields in `has`, and no
 * limit on the work.
 */
export type Ast =
  | {
      readonly op: 'value';
      readonly args: null | boolean | bigint | number | string | Uint8Array;
      readonly pos: number;
    }
  | { readonly op: 'id'; readonly args: string; readonly pos: number }
  | { readonly op: '.' | '.?'; readonly args: readonly [Ast, string]; readonly pos: number }
  | { readonly op: '[]' | '[?]'; readonly args: readonly [Ast, Ast]; readonly pos: number }
  | { readonly op: 'call'; readonly args: readonly [string, readonly Ast[]]; readonly pos: number }
  | { readonly op: 'rcall'; readonly args: readonly [string, Ast, readonly Ast[]]; readonly pos: number }
  | { readonly op: 'list'; readonly args: readonly Ast[]; readonly pos: number }
  | { readonly op: 'map'; readonly args: readonly (readonly [Ast, Ast])[]; readonly pos: number }
  | { readonly op: '?:'; readonly args: readonly [Ast, Ast, Ast]; readonly pos: number }
  | { readonly op: '!_' | '-_'; readonly args: Ast; readonly pos: number }
  | { readonly op: BinaryOperator; readonly args: readonly [Ast, Ast]; readonly pos: number };

/** BinaryOperator is an operator between two expressions. */
export type BinaryOperator = '||' | '&&' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%';

// The API server allows 250 levels too. No real expression has 10,000 nodes, and the time to check grows with their
// number.
const LIMITS = {
  maxAstNodes: 10_000,
  maxDepth: 250,
  maxListElements: 1_000,
  maxMapEntries: 1_000,
  maxCallArguments: 32,
};

let parser: Environment | undefined;

/** parseExpression parses an expression, or throws a CelSyntaxError with the position. */
export function parseExpression(source: string): Ast {
  parser ??= new Environment({ enableOptionalTypes: true, unlistedVariablesAreDyn: true, limits: LIMITS });
  try {
    // The nodes are classes of the library; its documentation guarantees `op` and `args`.
    const ast = parser.parse(source).ast as unknown as Ast;
    refuseUnsigned(ast, source);
    return ast;
  } catch (cause) {
    if (!(cause instanceof ParseError)) throw cause;
    throw new CelSyntaxError(cause.summary, source, cause.range?.start ?? 0);
  }
}

/** Schemas have no unsigned type, so an unsigned integer could not be compared with anything. */
function refuseUnsigned(ast: Ast, source: string): void {
  // Apart from bytes, they are the only literals that the parser represents as objects.
  if (ast.op === 'value' && typeof ast.args === 'object' && ast.args !== null && !(ast.args instanceof Uint8Array))
    throw new CelSyntaxError('unsigned integers are not supported; write the number without u', source, ast.pos);
  for (const child of childrenOf(ast)) refuseUnsigned(child, source);
}

function childrenOf(ast: Ast): readonly Ast[] {
  switch (ast.op) {
    case 'value':
    case 'id':
      return [];
    case '.':
    case '.?':
      return [ast.args[0]];
    case 'call':
      return ast.args[1];
    case 'rcall':
      return [ast.args[1], ...ast.args[2]];
    case 'map':
      return ast.args.flat();
    case '!_':
    case '-_':
      return [ast.args];
    default:
      return ast.args;
  }
}
