import { compileAccess, compileHas } from './compile-access.ts';
import { compileCall, compileMethod, compileOperator } from './compile-call.ts';
import { Failed, type Frame } from './frame.ts';
import type { Overload } from './overloads.ts';
import { type Ast, parseExpression } from './parse.ts';
import { CelSyntaxError } from './syntax-error.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  FREE,
  fits,
  formatType,
  INT,
  isUnknown,
  listOf,
  mapOf,
  moreSpecific,
  NULL,
  STRING,
  TYPE,
} from './types.ts';
import { CelFailure, type CelValue, ListValue, MapValue, TypeValue } from './values.ts';

/** Code is a compiled expression. */
export interface Code {
  readonly type: CelType;
  readonly run: (frame: Frame) => CelValue;
  /** The types of the items, if the expression is a list literal. */
  readonly items?: readonly CelType[];
}

/** ResolvedCall is a call of a function or method, with the overloads that match its operands. */
export interface ResolvedCall {
  readonly name: string;
  readonly isMethod: boolean;
  readonly overloads: readonly Overload[];
}

/** Checked holds the results of type-checking for the parts of an expression. */
export interface Checked {
  readonly source: string;
  readonly ast: Ast;
  readonly types: Map<Ast, CelType>;
  /** Does not include macros, because they are not calls. */
  readonly calls: Map<Ast, ResolvedCall>;
}

/** Variable is a name that an expression may use. */
export interface Variable {
  readonly name: string;
  readonly type: CelType;
  readonly slot: number;
}

/** Context holds what is known at a part of an expression. */
export interface Context {
  readonly source: string;
  readonly variables: readonly Variable[];
  /** Whether the items of a literal may have different types: only in the arguments of `format`. */
  readonly allowsMixed: boolean;
  /** Whether `cel.bind` exists: the API server does not support it in validation rules. */
  readonly hasBind: boolean;
  /** The maximum number of instructions of all literal patterns together. */
  readonly maxPatternSize: number;
  /** State shared by all parts of one expression. */
  readonly shared: {
    slots: number;
    patternSize: number;
    readonly used: Set<string>;
    readonly checked: Pick<Checked, 'types' | 'calls'>;
  };
}

/**
 * Program is an expression that can be evaluated. The values of the variables are passed in the order of their
 * declaration.
 */
export interface Program extends Code {
  readonly slots: number;
  /** The declared variables that the expression mentions. */
  readonly used: ReadonlySet<string>;
  /** The number of instructions of all literal patterns together. */
  readonly patternSize: number;
}

/** CompileOptions limits what an expression may use. */
export interface CompileOptions {
  readonly hasBind: boolean;
  readonly maxPatternSize?: number | undefined;
}

/** Declarations holds the types of variables by name. */
export type Declarations = readonly (readonly [name: string, type: CelType])[];

/** compile parses and type-checks an expression, or throws a CelSyntaxError. */
export function compile(source: string, variables: Declarations, options: CompileOptions): Program {
  return compileChecked(source, variables, options).program;
}

/** compileChecked is `compile` for callers that also need the results of type-checking. */
export function compileChecked(
  source: string,
  variables: Declarations,
  options: CompileOptions,
): { readonly program: Program; readonly checked: Checked } {
  const { hasBind, maxPatternSize = Number.POSITIVE_INFINITY } = options;
  const found = { types: new Map<Ast, CelType>(), calls: new Map<Ast, ResolvedCall>() };
  const shared = { slots: variables.length, patternSize: 0, used: new Set<string>(), checked: found };
  const declared = variables.map(([name, type], slot) => ({ name, type, slot }));
  const context: Context = { source, variables: declared, hasBind, maxPatternSize, allowsMixed: false, shared };
  try {
    const ast = parseExpression(source);
    const code = compileAst(ast, context);
    const program = { ...code, slots: shared.slots, used: shared.used, patternSize: shared.patternSize };
    return { program, checked: { source, ast, ...found } };
  } catch (cause) {
    // The parser does not count every operator as a nesting level.
    if (cause instanceof RangeError) throw new CelSyntaxError('max recursion depth exceeded', source, 0);
    throw cause;
  }
}

/** failAt returns an error for a position in an expression. */
export function failAt(context: Context, ast: Ast, problem: string, hint?: string): CelSyntaxError {
  return new CelSyntaxError(problem, context.source, positionOf(ast, context), hint);
}

/** The position of a field selection is that of its dot, as on the API server. */
function positionOf(ast: Ast, { source }: Context): number {
  return ast.op === '.' ? Math.max(source.lastIndexOf('.', ast.pos), 0) : ast.pos;
}

/** withVariable declares one more variable for a part of an expression. */
export function withVariable(context: Context, name: string, type: CelType): { context: Context; slot: number } {
  const slot = context.shared.slots++;
  return { slot, context: { ...context, variables: [{ name, type, slot }, ...context.variables] } };
}

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;

/** compileAst compiles a part of an expression. */
export function compileAst(ast: Ast, context: Context): Code {
  const code = compilePart(ast, context);
  context.shared.checked.types.set(ast, code.type);
  return code;
}

function compilePart(ast: Ast, context: Context): Code {
  switch (ast.op) {
    case 'value':
      return literal(ast.args, ast, context);
    case 'id':
      return identifier(ast.args, ast, context);
    case '.':
    case '.?':
    case '[]':
    case '[?]':
      return typeIdentifier(ast) ?? compileAccess(ast, context);
    case 'call':
      return ast.args[0] === 'has' ? compileHas(ast, context) : compileCall(ast, context);
    case 'rcall':
      return compileMethod(ast, context);
    case 'list':
      return list(ast, context);
    case 'map':
      return map(ast, context);
    case '?:':
      return ternary(ast, context);
    case '&&':
      return logical(ast, context, false);
    case '||':
      return logical(ast, context, true);
    case '-_':
      // The smallest integer can only be written with its sign.
      if (ast.args.op === 'value' && typeof ast.args.args === 'bigint') return literal(-ast.args.args, ast, context);
      return compileOperator('-_', [ast.args], ast, context);
    case '!_':
      return compileOperator('!_', [ast.args], ast, context);
    case 'in':
      return compileOperator('@in', ast.args, ast, context);
    default:
      return compileOperator(`_${ast.op}_`, ast.args, ast, context);
  }
}

function constant(type: CelType, value: CelValue): Code {
  return { type, run: () => value };
}

function literal(value: null | boolean | bigint | number | string | Uint8Array, ast: Ast, context: Context): Code {
  if (value === null) return constant(NULL, null);
  if (value instanceof Uint8Array) return constant(BYTES, value);
  switch (typeof value) {
    case 'boolean':
      return constant(BOOL, value);
    case 'number':
      return constant(DOUBLE, value);
    case 'string':
      return constant(STRING, value);
    default:
      if (value < MIN_INT || value > MAX_INT) throw failAt(context, ast, `the number ${value} does not fit in 64 bits`);
      return constant(INT, value);
  }
}

const TYPE_NAMES = ['bool', 'int', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'];

function identifier(name: string, ast: Ast, context: Context): Code {
  const variable = context.variables.find((each) => each.name === name);
  if (variable !== undefined) {
    context.shared.used.add(name);
    const { slot, type } = variable;
    return {
      type,
      run(frame) {
        frame.spend(1);
        const value = frame.slots[slot];
        if (value === undefined) throw new CelFailure(`no such attribute: ${name}`);
        if (value instanceof Failed) throw value.failure;
        return value;
      },
    };
  }
  if (TYPE_NAMES.includes(name)) return constant(TYPE, new TypeValue(name));
  const known = context.variables.map((each) => each.name);
  const hint = `known variables are ${known.join(', ') || 'none'}`;
  throw failAt(context, ast, `undeclared reference to '${name}' (in container '')`, hint);
}

/** Two types have dotted names. */
function typeIdentifier(ast: Ast): Code | undefined {
  const name = dottedName(ast);
  if (name === 'google.protobuf.Timestamp' || name === 'google.protobuf.Duration')
    return constant(TYPE, new TypeValue(name));
  return undefined;
}

function dottedName(ast: Ast): string | undefined {
  if (ast.op === 'id') return ast.args;
  if (ast.op !== '.') return undefined;
  const left = dottedName(ast.args[0]);
  return left === undefined ? undefined : `${left}.${ast.args[1]}`;
}

/** joinTypes returns one type for several expressions, whose types have to match. */
function joinTypes(codes: readonly Code[], at: readonly Ast[], context: Context): CelType {
  return codes.reduce((joined: CelType, { type }, index) => {
    if (!fits(joined, type, new Map())) throw mismatch(joined, type, at[index], context);
    return moreSpecific(joined, type);
  }, FREE);
}

/** literalType returns one type for the items of a literal, which must all have exactly the same type. */
function literalType(codes: readonly Code[], at: readonly Ast[], context: Context): CelType {
  const names = new Set(codes.map(({ type }) => formatType(type)));
  if (context.allowsMixed && names.size > 1) return DYN;
  for (const [index, { type }] of codes.entries()) {
    const before = codes[index - 1]?.type ?? type;
    const isDynamic =
      (before.kind === 'dyn') !== (type.kind === 'dyn') && before.kind !== 'free' && type.kind !== 'free';
    if (isDynamic) throw mismatch(before, type, at[index], context);
  }
  return joinTypes(codes, at, context);
}

function mismatch(wanted: CelType, found: CelType, at: Ast | undefined, context: Context): CelSyntaxError {
  return new CelSyntaxError(
    `expected type '${formatType(wanted)}' but found '${formatType(found)}'`,
    context.source,
    at?.pos ?? 0,
  );
}

function list(ast: Ast & { op: 'list' }, context: Context): Code {
  const items = ast.args.map((item) => compileAst(item, context));
  return {
    type: listOf(literalType(items, ast.args, context)),
    items: items.map(({ type }) => type),
    run(frame) {
      frame.spend(1 + items.length);
      return new ListValue(items.map((item) => item.run(frame)));
    },
  };
}

function map(ast: Ast & { op: 'map' }, context: Context): Code {
  const keys = ast.args.map(([key]) => compileAst(key, context));
  const values = ast.args.map(([, value]) => compileAst(value, context));
  const type = mapOf(
    literalType(
      keys,
      ast.args.map(([key]) => key),
      context,
    ),
    literalType(
      values,
      ast.args.map(([, value]) => value),
      context,
    ),
  );
  return {
    type,
    run(frame) {
      frame.spend(1 + keys.length);
      return new MapValue(keys.map((key, index) => [key.run(frame), values[index]?.run(frame) ?? null] as const));
    },
  };
}

function ternary(ast: Ast & { op: '?:' }, context: Context): Code {
  const [condition, yes, no] = ast.args;
  const test = compileAst(condition, context);
  const branches = [compileAst(yes, context), compileAst(no, context)] as const;
  if (!fits(BOOL, test.type, new Map()))
    throw failAt(context, condition, `expected type 'bool' but found '${formatType(test.type)}'`);
  const type = joinTypes(branches, [yes, no], context);
  return {
    type,
    run(frame) {
      frame.spend(1);
      const chosen = test.run(frame);
      if (typeof chosen !== 'boolean') throw new CelFailure('no such overload');
      return branches[chosen ? 0 : 1].run(frame);
    },
  };
}

/** `&&` and `||` ignore an error on one side if the other side decides the result. */
function logical(ast: Ast & { args: readonly [Ast, Ast] }, context: Context, decisive: boolean): Code {
  const sides = ast.args.map((side) => compileAst(side, context));
  for (const [index, side] of sides.entries()) {
    const at = ast.args[index] ?? ast;
    if (!isUnknown(side.type) && side.type.kind !== 'bool')
      throw failAt(context, at, `expected type 'bool' but found '${formatType(side.type)}'`);
  }
  return {
    type: BOOL,
    run(frame) {
      frame.spend(1);
      let failure: CelFailure | undefined;
      for (const side of sides) {
        try {
          const value = side.run(frame);
          if (value === decisive) return decisive;
          if (typeof value !== 'boolean') failure ??= new CelFailure('no such overload');
        } catch (error) {
          if (!(error instanceof CelFailure)) throw error;
          failure ??= error;
        }
      }
      if (failure !== undefined) throw failure;
      return !decisive;
    },
  };
}
