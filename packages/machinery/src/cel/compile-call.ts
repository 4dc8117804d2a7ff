import { compilePattern, isCompiled } from '../patterns/compile-pattern.ts';
import { searchSteps } from '../patterns/counted-text.ts';
import { patternSize } from '../patterns/pattern-size.ts';
import { type Code, type Context, compileAst, failAt } from './compile.ts';
import { Frame } from './frame.ts';
import { functionOverloads, methodOverloads } from './functions.ts';
import { formatProblem } from './library/string-format.ts';
import { compileMacro } from './macros.ts';
import { type Overload, resolveCall } from './overloads.ts';
import type { Ast } from './parse.ts';
import { type CelType, formatType } from './types.ts';
import { CelFailure, type CelValue, OptionalValue } from './values.ts';

/** compileOperator compiles an operator. */
export function compileOperator(name: string, operands: readonly Ast[], ast: Ast, context: Context): Code {
  const codes = operands.map((operand) => compileAst(operand, context));
  return call(name, functionOverloads(name), codes, ast, context, '');
}

/** compileCall compiles `f(a, b)`. */
export function compileCall(ast: Ast & { op: 'call' }, context: Context): Code {
  const [name, operands] = ast.args;
  const overloads = functionOverloads(name);
  if (overloads.length === 0 || /\W/.test(name)) throw failAt(context, ast, `unknown function ${name}`);
  const codes = operands.map((operand) => compileAst(operand, context));
  checkLiterals(name, operands, ast, context);
  return call(name, overloads, codes, ast, context, '');
}

/** compileMethod compiles `a.f(b)`: a macro, a function with a dotted name, or a method. */
export function compileMethod(ast: Ast & { op: 'rcall' }, context: Context): Code {
  const [name, receiver, operands] = ast.args;
  const macro = compileMacro(ast, context);
  if (macro !== undefined) return macro;
  if (receiver.op === 'id' && !context.variables.some((each) => each.name === receiver.args)) {
    const dotted = `${receiver.args}.${name}`;
    const overloads = functionOverloads(dotted);
    if (overloads.length === 0)
      throw failAt(context, ast, `unknown function ${dotted}, and unknown variable ${receiver.args}`);
    return call(
      dotted,
      overloads,
      operands.map((operand) => compileAst(operand, context)),
      ast,
      context,
      '',
    );
  }
  const target = compileAst(receiver, context);
  const overloads = methodOverloads(name);
  if (overloads.length === 0) throw failAt(context, ast, `unknown method ${name}`);
  const inside = name === 'format' ? { ...context, allowsMixed: true } : context;
  const codes = [target, ...operands.map((operand) => compileAst(operand, inside))];
  checkLiterals(name, operands, ast, context);
  if (name === 'format') checkFormat(receiver, codes[1], context);
  const code = call(name, overloads, codes, ast, context, `${formatType(target.type)}.`);
  return (name === 'or' || name === 'orValue') && codes[1] !== undefined
    ? lazily(code.type, target, codes[1], name === 'or')
    : code;
}

function call(
  name: string,
  overloads: readonly Overload[],
  codes: readonly Code[],
  ast: Ast,
  context: Context,
  receiver: string,
): Code {
  const resolved = resolveCall(
    overloads,
    codes.map(({ type }) => type),
  );
  if (resolved === undefined) {
    const types = codes.slice(receiver === '' ? 0 : 1).map(({ type }) => formatType(type));
    throw failAt(
      context,
      ast,
      `found no matching overload for '${name}' applied to '${receiver}(${types.join(', ')})'`,
    );
  }
  context.shared.checked.calls.set(ast, { name, isMethod: receiver !== '', overloads: resolved.overloads });
  return {
    type: resolved.type,
    run(frame) {
      frame.spend(1);
      const values = codes.map((code) => code.run(frame));
      for (const value of values) frame.spendOn(value);
      if (PATTERNS.has(name)) spendOnSearch(frame, values);
      const result = resolved.run(values, frame);
      frame.spendOn(result);
      return result;
    },
  };
}

/** The cost of compiling one instruction of a pattern. */
const STEPS_PER_INSTRUCTION = 10;

/**
 * The cost of a search grows with the length of the text and the complexity of the pattern: a hundred thousand
 * characters can take seconds. Compiling a pattern that the expression itself builds costs steps too.
 */
function spendOnSearch(frame: Frame, [text, pattern]: readonly CelValue[]): void {
  if (typeof text !== 'string' || typeof pattern !== 'string') return;
  if (!isCompiled(pattern)) frame.spend(patternSize(pattern) * STEPS_PER_INSTRUCTION);
  frame.spend(searchSteps(compilePattern(pattern), text.length));
}

/** The alternative of an optional value is evaluated only when it is needed, because it may fail. */
function lazily(type: CelType, target: Code, alternative: Code, keepsOptional: boolean): Code {
  return {
    type,
    run(frame) {
      frame.spend(1);
      const optional = target.run(frame);
      if (!(optional instanceof OptionalValue)) throw new CelFailure('no such overload');
      if (optional.value === undefined) return alternative.run(frame);
      return keepsOptional ? optional : optional.value;
    },
  };
}

const PATTERNS = new Set(['matches', 'find', 'findAll']);
const CONVERSIONS = new Set(['bool', 'bytes', 'double', 'int', 'string', 'duration', 'timestamp']);

/** Errors in literal arguments are reported at compile time, as the API server does. */
function checkLiterals(name: string, operands: readonly Ast[], ast: Ast, context: Context): void {
  const operand = ast.op === 'call' && name === 'matches' ? operands[1] : operands[0];
  if (operand?.op !== 'value') return;
  try {
    if (PATTERNS.has(name) && typeof operand.args === 'string') {
      context.shared.patternSize += patternSize(operand.args);
      if (context.shared.patternSize > context.maxPatternSize)
        throw new Error(`its patterns have more than ${context.maxPatternSize} instructions in total`);
      compilePattern(operand.args);
    }
    if (ast.op === 'call' && CONVERSIONS.has(name)) {
      const literal = compileAst(operand, context);
      const frame = new Frame([]);
      resolveCall(functionOverloads(name), [literal.type])?.run([literal.run(frame)], frame);
    }
  } catch (error) {
    throw failAt(context, operand, error instanceof Error ? error.message : String(error));
  }
}

function checkFormat(template: Ast, list: Code | undefined, context: Context): void {
  if (template.op !== 'value' || typeof template.args !== 'string') return;
  const problem = formatProblem(template.args, list?.items);
  if (problem !== undefined) throw failAt(context, template, problem);
}
