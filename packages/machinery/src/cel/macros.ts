import { type Code, type Context, compileAst, failAt, withVariable } from './compile.ts';
import { compareValues, Lookup } from './equality.ts';
import { Failed, type Frame } from './frame.ts';
import type { Ast } from './parse.ts';
import { BOOL, type CelType, DYN, formatType, INT, isUnknown, listOf, mapOf, optionalOf } from './types.ts';
import { CelFailure, type CelValue, ListValue, MapValue, NONE, OptionalValue } from './values.ts';

type Call = Ast & { op: 'rcall' };

/** compileMacro compiles a call that binds variables (`list.all(x, …)`), or returns undefined for an ordinary call. */
export function compileMacro(ast: Call, context: Context): Code | undefined {
  const [name, receiver, operands] = ast.args;
  const count = operands.length;
  switch (name) {
    case 'all':
    case 'exists':
      if (count === 2 || count === 3) return quantifier(ast, context, count - 1, name === 'exists');
      return undefined;
    case 'exists_one':
    case 'existsOne':
      if (count === 3 || (count === 2 && name === 'exists_one')) return existsOne(ast, context, count - 1);
      return undefined;
    case 'filter':
      return count === 2 ? filter(ast, context) : undefined;
    case 'map':
      return count === 2 || count === 3 ? transform(ast, context, 1, 'list') : undefined;
    case 'transformList':
    case 'transformMap':
    case 'transformMapEntry':
      if (count !== 3 && count !== 4) return undefined;
      return transform(
        ast,
        context,
        2,
        name === 'transformList' ? 'list' : name === 'transformMap' ? 'map' : 'entries',
      );
    case 'sortBy':
      return count === 2 ? sortBy(ast, context) : undefined;
    case 'optMap':
    case 'optFlatMap':
      return count === 2 ? optionalMap(ast, context, name === 'optFlatMap') : undefined;
    case 'bind':
      if (receiver.op !== 'id' || receiver.args !== 'cel' || count !== 3) return undefined;
      if (!context.hasBind)
        throw failAt(
          context,
          ast,
          'cel.bind is not available in validation rules and match conditions; the API server rejects it',
        );
      return bind(ast, context);
    default:
      return undefined;
  }
}

function variableName(ast: Ast | undefined, macro: Call, context: Context): string {
  if (ast?.op === 'id') return ast.args;
  throw failAt(context, ast ?? macro, `the first argument of ${macro.args[0]}() must be a variable name, such as x`);
}

interface Loop {
  readonly body: Context;
  readonly keyType: CelType;
  readonly valueType: CelType;
  /** each calls `visit` for every item, with the variables set, until it returns `stop`. */
  each(frame: Frame, visit: (key: CelValue, value: CelValue | Failed) => 'stop' | undefined): void;
}

/**
 * Prepares the iteration over a macro's receiver: with one variable over items or keys, with two over index or key, and
 * value.
 */
function loopOver(ast: Call, context: Context, variables: number): Loop {
  const [, receiver, operands] = ast.args;
  const range = compileAst(receiver, context);
  const { key, value } = rangeTypes(range.type, receiver, context);
  const names = operands.slice(0, variables).map((operand) => variableName(operand, ast, context));
  const isList = range.type.kind === 'list';
  const firstType = variables === 2 ? key : isList || isUnknown(range.type) ? value : key;
  const first = withVariable(context, names[0] ?? '', firstType);
  const second = variables === 2 ? withVariable(first.context, names[1] ?? '', value) : undefined;
  const { types } = context.shared.checked;
  for (const [index, type] of [firstType, value].slice(0, variables).entries()) types.set(operands[index] ?? ast, type);
  return {
    body: second?.context ?? first.context,
    keyType: key,
    valueType: value,
    each(frame, visit) {
      frame.spend(1);
      const collection = range.run(frame);
      for (const { itemKey, read } of itemsOf(collection)) {
        frame.spend(1);
        const isKeyOnly = variables === 1 && collection instanceof MapValue;
        const value = isKeyOnly ? itemKey : attempt(read);
        frame.slots[first.slot] = variables === 2 ? itemKey : value;
        if (second !== undefined) frame.slots[second.slot] = value;
        if (visit(itemKey, value) === 'stop') return;
      }
    },
  };
}

/** An item that cannot be read fails where it is used, so that other items may still decide the result. */
function attempt(read: () => CelValue): CelValue | Failed {
  try {
    return read();
  } catch (error) {
    if (error instanceof CelFailure) return new Failed(error);
    throw error;
  }
}

function rangeTypes(type: CelType, receiver: Ast, context: Context): { key: CelType; value: CelType } {
  if (type.kind === 'list') return { key: INT, value: type.element };
  if (type.kind === 'map') return { key: type.key, value: type.value };
  if (isUnknown(type)) return { key: DYN, value: DYN };
  throw failAt(
    context,
    receiver,
    `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
  );
}

function itemsOf(collection: CelValue): readonly { readonly itemKey: CelValue; readonly read: () => CelValue }[] {
  if (collection instanceof ListValue)
    return Array.from({ length: collection.length }, (_, index) => ({
      itemKey: BigInt(index),
      read: () => collection.at(index) ?? null,
    }));
  if (collection instanceof MapValue)
    return collection.keys().map((itemKey) => ({ itemKey, read: () => collection.find(itemKey) ?? null }));
  throw new CelFailure('no such overload');
}

/** readable returns a value, or throws its failure. */
function readable(value: CelValue | Failed): CelValue {
  if (value instanceof Failed) throw value.failure;
  return value;
}

function predicate(ast: Ast | undefined, macro: Call, context: Context): (frame: Frame) => boolean {
  const code = compileAst(ast ?? macro, context);
  if (!isUnknown(code.type) && code.type.kind !== 'bool')
    throw failAt(context, ast ?? macro, `expected type 'bool' but found '${formatType(code.type)}'`);
  return (frame) => {
    const value = code.run(frame);
    if (typeof value !== 'boolean') throw new CelFailure('no such overload');
    return value;
  };
}

/** `all` and `exists` ignore an item that fails if another item decides the result. */
function quantifier(ast: Call, context: Context, variables: number, decisive: boolean): Code {
  const loop = loopOver(ast, context, variables);
  const test = predicate(ast.args[2][variables], ast, loop.body);
  return {
    type: BOOL,
    run(frame) {
      let isDecided = false;
      let failure: CelFailure | undefined;
      loop.each(frame, () => {
        try {
          isDecided = test(frame) === decisive;
        } catch (error) {
          if (!(error instanceof CelFailure)) throw error;
          failure ??= error;
        }
        return isDecided ? 'stop' : undefined;
      });
      if (!isDecided && failure !== undefined) throw failure;
      return isDecided ? decisive : !decisive;
    },
  };
}

function existsOne(ast: Call, context: Context, variables: number): Code {
  const loop = loopOver(ast, context, variables);
  const test = predicate(ast.args[2][variables], ast, loop.body);
  return {
    type: BOOL,
    run(frame) {
      let count = 0;
      loop.each(frame, () => {
        if (test(frame)) count++;
        return undefined;
      });
      return count === 1;
    },
  };
}

function filter(ast: Call, context: Context): Code {
  const loop = loopOver(ast, context, 1);
  const test = predicate(ast.args[2][1], ast, loop.body);
  const slot = loop.body.variables[0]?.type ?? DYN;
  return {
    type: listOf(slot),
    run(frame) {
      const kept: CelValue[] = [];
      loop.each(frame, (_, value) => {
        if (test(frame)) kept.push(readable(value));
        return undefined;
      });
      return new ListValue(kept);
    },
  };
}

function transform(ast: Call, context: Context, variables: number, result: 'list' | 'map' | 'entries'): Code {
  const loop = loopOver(ast, context, variables);
  const operands = ast.args[2].slice(variables);
  const test = operands.length === 2 ? predicate(operands[0], ast, loop.body) : undefined;
  const body = compileAst(operands.at(-1) ?? ast, loop.body);
  const isEntries = result === 'entries';
  if (isEntries && !isUnknown(body.type) && body.type.kind !== 'map')
    throw failAt(context, ast, `transformMapEntry() must return a map with one entry, not '${formatType(body.type)}'`);
  const type = result === 'list' ? listOf(body.type) : isEntries ? body.type : mapOf(loop.keyType, body.type);
  return {
    type,
    run(frame) {
      const made: [CelValue, CelValue][] = [];
      const keys = new Lookup(frame);
      loop.each(frame, (key) => {
        if (test !== undefined && !test(frame)) return undefined;
        const value = body.run(frame);
        frame.spendOn(value);
        for (const [entryKey, entryValue] of isEntries ? entriesOf(value) : [[key, value] as const]) {
          if (isEntries && keys.has(entryKey))
            throw new CelFailure(`insert failed: key ${String(entryKey)} already exists`);
          keys.add(entryKey);
          made.push([entryKey, entryValue]);
        }
        return undefined;
      });
      return result === 'list' ? new ListValue(made.map(([, value]) => value)) : new MapValue(made);
    },
  };
}

function entriesOf(value: CelValue): readonly (readonly [CelValue, CelValue])[] {
  if (value instanceof MapValue) return value.entries();
  throw new CelFailure('no such overload');
}

function sortBy(ast: Call, context: Context): Code {
  const loop = loopOver(ast, context, 1);
  const key = compileAst(ast.args[2][1] ?? ast, loop.body);
  return {
    type: listOf(loop.valueType),
    run(frame) {
      const keyed: [CelValue, CelValue][] = [];
      loop.each(frame, (_, value) => {
        keyed.push([key.run(frame), readable(value)]);
        return undefined;
      });
      return new ListValue(keyed.sort(([a], [b]) => compareValues(a, b, frame)).map(([, value]) => value));
    },
  };
}

function optionalMap(ast: Call, context: Context, isFlat: boolean): Code {
  const [, receiver, operands] = ast.args;
  const target = compileAst(receiver, context);
  if (target.type.kind !== 'optional' && !isUnknown(target.type))
    throw failAt(context, receiver, `${ast.args[0]}() requires an optional value, not '${formatType(target.type)}'`);
  const inner = target.type.kind === 'optional' ? target.type.value : DYN;
  const variable = withVariable(context, variableName(operands[0], ast, context), inner);
  const body = compileAst(operands[1] ?? ast, variable.context);
  if (isFlat && body.type.kind !== 'optional' && !isUnknown(body.type))
    throw failAt(context, ast, `optFlatMap() must return an optional value, not '${formatType(body.type)}'`);
  return {
    type: isFlat ? body.type : optionalOf(body.type),
    run(frame) {
      frame.spend(1);
      const optional = target.run(frame);
      if (!(optional instanceof OptionalValue)) throw new CelFailure('no such overload');
      if (optional.value === undefined) return NONE;
      frame.slots[variable.slot] = optional.value;
      const value = body.run(frame);
      return isFlat ? value : new OptionalValue(value);
    },
  };
}

function bind(ast: Call, context: Context): Code {
  const [name, value, body] = ast.args[2];
  const bound = compileAst(value ?? ast, context);
  const variable = withVariable(context, variableName(name, ast, context), bound.type);
  const code = compileAst(body ?? ast, variable.context);
  return {
    type: code.type,
    run(frame) {
      frame.slots[variable.slot] = bound.run(frame);
      return code.run(frame);
    },
  };
}
