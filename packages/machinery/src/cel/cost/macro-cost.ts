import type { Ast } from '../parse.ts';
import type { CelType } from '../types.ts';
import { sortCost } from './call-cost.ts';
import { type CostEstimator, type EntrySizes, type LocalVariable, scalarSize } from './estimate-cost.ts';
import { add, times } from './saturating.ts';
import { CREATE_LIST, CREATE_MAP, fixedSize, type Size, UNKNOWN_SIZE, unionSizes } from './sizes.ts';
import { append } from './value-path.ts';

/** The cost of reading the variable in which a loop collects its result. */
const READ = 1;
const CALL = 1;
const NOTHING: Size = fixedSize(0);

/** macroCost returns the cost of a macro: of the loop that it expands to, or of the tests around an optional value. */
export function macroCost(estimator: CostEstimator, ast: Ast): number {
  if (ast.op === 'call') return hasCost(estimator, ast);
  if (ast.op !== 'rcall') return 0;
  const [name, , operands] = ast.args;
  const count = operands.length;
  switch (name) {
    case 'all':
    case 'exists':
      return quantifier(estimator, ast, count - 1, name === 'all' ? READ + CALL : READ + CALL + CALL);
    case 'exists_one':
    case 'existsOne':
      return existsOne(estimator, ast, count - 1);
    case 'filter':
      return filter(estimator, ast);
    case 'map':
      return mapped(estimator, ast, 1);
    case 'transformList':
      return mapped(estimator, ast, 2);
    case 'transformMap':
      return mapInserted(estimator, ast, READ);
    case 'transformMapEntry':
      return mapInserted(estimator, ast, 0);
    case 'sortBy':
      return sortBy(estimator, ast);
    case 'optMap':
    case 'optFlatMap':
      return optionalMap(estimator, ast, name === 'optMap');
    default:
      return bind(estimator, ast);
  }
}

type MacroCall = Ast & { op: 'rcall' };

/** `has(a.b)` costs the same as `a`: the API server does not count the test. */
function hasCost(estimator: CostEstimator, ast: Ast & { op: 'call' }): number {
  const [selection] = ast.args[1];
  return selection?.op === '.' ? estimator.cost(selection.args[0]) : 0;
}

function nameOf(ast: Ast | undefined): string {
  return ast?.op === 'id' ? ast.args : '';
}

/** Loop is a loop over a list or map. */
interface Loop {
  /** The cost of the list or map that is looped over. */
  readonly range: number;
  readonly count: Size;
  /** The cost of one iteration, with the variables of the macro declared. */
  readonly round: number;
}

function loop(estimator: CostEstimator, ast: MacroCall, variables: number, round: () => number): Loop {
  const [, receiver, operands] = ast.args;
  const range = estimator.cost(receiver);
  const names = operands.slice(0, variables).map(nameOf);
  const declared = declare(estimator, receiver, names);
  const cost = estimator.within(declared, round);
  return { range, round: cost, count: estimator.countOf(receiver) };
}

/** One variable holds the items of a list or the keys of a map. Two variables hold the index or key, and the value. */
function declare(
  estimator: CostEstimator,
  range: Ast,
  [first = '', second]: readonly string[],
): readonly (readonly [string, LocalVariable])[] {
  const entries = estimator.entriesOf(range);
  const isList = (entries?.kind ?? estimator.typeOf(range).kind) === 'list';
  const variable = (step: string, size: Size | undefined): LocalVariable => {
    return { path: append(estimator.pathOf(range), step), size };
  };
  const values = (): LocalVariable => variable(isList ? '@items' : '@values', entries?.value);
  if (second === undefined) return [[first, isList ? values() : variable('@keys', entries?.key)]];
  return [
    [first, variable(isList ? '@indices' : '@keys', entries?.key)],
    [second, values()],
  ];
}

function total({ range, count, round }: Loop, once: number): number {
  return add(add(range, once), times(count.max, round));
}

/**
 * In each iteration of `all` and `exists`, the result so far decides whether to continue, and is combined with the
 * predicate.
 */
function quantifier(estimator: CostEstimator, ast: MacroCall, variables: number, condition: number): number {
  const looped = loop(estimator, ast, variables, () =>
    add(estimator.cost(predicateOf(ast, variables)), READ + condition),
  );
  estimator.setSize(ast, fixedSize(1));
  return total(looped, READ);
}

function predicateOf(ast: MacroCall, variables: number): Ast {
  return ast.args[2][variables] ?? ast;
}

function existsOne(estimator: CostEstimator, ast: MacroCall, variables: number): number {
  const looped = loop(estimator, ast, variables, () => add(estimator.cost(predicateOf(ast, variables)), READ + CALL));
  estimator.setSize(ast, fixedSize(1));
  return total(looped, READ + CALL);
}

/** The cost of each iteration of a loop that creates a list, besides the item: a list of one item, and appending it. */
const APPEND = READ + CREATE_LIST + CALL;

function listCreationCost(estimator: CostEstimator, ast: MacroCall, looped: Loop, item: Size): number {
  estimator.setSize(ast, looped.count);
  const entries: EntrySizes = { kind: 'list', key: fixedSize(1), value: unionSizes(NOTHING, item) };
  estimator.setEntries(ast, entries);
  return total(looped, CREATE_LIST + READ);
}

function filter(estimator: CostEstimator, ast: MacroCall): number {
  let item = UNKNOWN_SIZE;
  const looped = loop(estimator, ast, 1, () => {
    const predicate = estimator.cost(predicateOf(ast, 1));
    const [variable = ast] = ast.args[2];
    const cost = add(predicate, estimator.cost(variable) + APPEND);
    item = estimator.sizeOf(variable) ?? UNKNOWN_SIZE;
    return cost;
  });
  return listCreationCost(estimator, ast, looped, item);
}

function mapped(estimator: CostEstimator, ast: MacroCall, variables: number): number {
  const operands = ast.args[2].slice(variables);
  const made = operands.at(-1) ?? ast;
  let item = UNKNOWN_SIZE;
  const looped = loop(estimator, ast, variables, () => {
    const test = operands.length === 2 ? estimator.cost(operands[0] ?? ast) : 0;
    const cost = add(add(test, estimator.cost(made)), APPEND);
    item = estimator.sizeOf(made) ?? UNKNOWN_SIZE;
    return cost;
  });
  return listCreationCost(estimator, ast, looped, item);
}

function mapInserted(estimator: CostEstimator, ast: MacroCall, key: number): number {
  const operands = ast.args[2].slice(2);
  const looped = loop(estimator, ast, 2, () => {
    const test = operands.length === 2 ? estimator.cost(operands[0] ?? ast) : 0;
    return add(add(test, estimator.cost(operands.at(-1) ?? ast)), READ + key + CALL);
  });
  estimator.setSize(ast, looped.count);
  return total(looped, CREATE_MAP + READ);
}

/** Binding a value to a variable costs an empty list in addition to the value. */
const BIND = CREATE_LIST;

function sortBy(estimator: CostEstimator, ast: MacroCall): number {
  const [, receiver, operands] = ast.args;
  const target = estimator.cost(receiver);
  const keys = loopKeys(estimator, receiver, operands);
  const type = estimator.typeOf(operands[1] ?? ast);
  const sorted = sortCost(keys.count, comparedAs(type));
  estimator.setSize(ast, sorted.size);
  const mapCost = add(add(READ, CREATE_LIST + READ), times(keys.count.max, add(keys.round, APPEND)));
  return add(add(add(BIND + target, mapCost), READ), sorted.cost);
}

/** The sort keys of a list are collected in a loop over a variable that holds the list. */
function loopKeys(
  estimator: CostEstimator,
  receiver: Ast,
  [name, key]: readonly Ast[],
): { readonly count: Size; readonly round: number } {
  const declared = declare(estimator, receiver, [nameOf(name)]);
  const round = estimator.within(declared, () => estimator.cost(key ?? receiver));
  return { round, count: estimator.sizeAsVariable(receiver) ?? UNKNOWN_SIZE };
}

/** Keys of an unknown type may be text, which has the highest cost. */
function comparedAs(type: CelType): CelType {
  return type.kind === 'dyn' || type.kind === 'free' ? { kind: 'string' } : type;
}

function optionalMap(estimator: CostEstimator, ast: MacroCall, wraps: boolean): number {
  const [, receiver, [name, body = ast]] = ast.args;
  // The optional value is computed twice: once to test it and once to unwrap it.
  const receiverCost = add(estimator.cost(receiver), CALL);
  const made = estimator.within([[nameOf(name), { path: undefined }]], () => {
    const cost = add(BIND + receiverCost, estimator.cost(body));
    const absent = scalarSize(estimator.typeOf(ast)) ?? UNKNOWN_SIZE;
    if (!wraps) estimator.setSize(ast, unionSizes(estimator.sizeOf(body) ?? UNKNOWN_SIZE, absent));
    return cost;
  });
  return add(receiverCost, wraps ? add(made, CALL) : made);
}

function bind(estimator: CostEstimator, ast: MacroCall): number {
  const [name, value = ast, body = ast] = ast.args[2];
  const cost = estimator.cost(value);
  const variable = {
    path: estimator.pathOf(value),
    size: estimator.sizeOf(value),
    entries: estimator.entriesOf(value),
  };
  return estimator.within([[nameOf(name), variable]], () => {
    const made = add(BIND + cost, estimator.cost(body));
    estimator.copySizes(ast, body);
    return made;
  });
}
