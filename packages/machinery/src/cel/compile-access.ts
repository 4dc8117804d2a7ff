import { AuthorizerValue, ResourceCheckValue } from './authorizer-values.ts';
import { type Code, type Context, compileAst, failAt } from './compile.ts';
import type { Ast } from './parse.ts';
import { ObjectValue } from './schema-values.ts';
import { BOOL, type CelType, DYN, fits, formatType, INT, optionalOf, simple } from './types.ts';
import { CelFailure, type CelValue, ListValue, MapValue, NONE, OptionalValue } from './values.ts';

type Access = Ast & { op: '.' | '.?' | '[]' | '[?]' };

/** compileAccess compiles `a.b`, `a.?b`, `a[b]` and `a[?b]`. Every access to an optional value is optional. */
export function compileAccess(ast: Access, context: Context): Code {
  const left = compileAst(ast.args[0], context);
  if (isRequestResource(ast, left)) return requestResource(left);
  const isOptional = left.type.kind === 'optional' || ast.op === '.?' || ast.op === '[?]';
  const inner = left.type.kind === 'optional' ? left.type.value : left.type;
  const key = typeof ast.args[1] === 'string' ? undefined : compileAst(ast.args[1], context);
  const name = typeof ast.args[1] === 'string' ? ast.args[1] : '';
  const type = key === undefined ? fieldType(inner, name, ast, context) : indexType(inner, key.type, ast, context);
  const find = (value: CelValue, index: CelValue): CelValue | undefined => {
    return key === undefined ? findField(value, name) : findIndex(value, index);
  };
  if (isOptional) {
    return {
      type: optionalOf(type),
      run(frame) {
        frame.spend(1);
        const value = left.run(frame);
        const holder = value instanceof OptionalValue ? value.value : value;
        const index = key === undefined ? null : key.run(frame);
        const found = holder === undefined ? undefined : find(holder, index);
        return found === undefined ? NONE : new OptionalValue(found);
      },
    };
  }
  return {
    type,
    run(frame) {
      frame.spend(1);
      const value = left.run(frame);
      const index = key === undefined ? name : key.run(frame);
      const found = find(value, index);
      if (found !== undefined) return found;
      throw new CelFailure(
        value instanceof ListValue ? `index out of bounds: ${String(index)}` : `no such key: ${String(index)}`,
      );
    },
  };
}

/** `authorizer.requestResource` looks like a field but is a separate variable. */
function isRequestResource({ op, args: [holder, name] }: Access, { type }: Code): boolean {
  return op === '.' && type.kind === 'authorizer' && holder.op === 'id' && name === 'requestResource';
}

function requestResource(left: Code): Code {
  return {
    type: simple('resourceCheck'),
    run(frame) {
      frame.spend(1);
      const authorizerValue = left.run(frame);
      if (!(authorizerValue instanceof AuthorizerValue)) throw new CelFailure('no such overload');
      return new ResourceCheckValue(authorizerValue, authorizerValue.authorizer.requestResource);
    },
  };
}

/** compileHas compiles `has(a.b)`. */
export function compileHas(ast: Ast & { op: 'call' }, context: Context): Code {
  const [argument, ...others] = ast.args[1];
  if (argument === undefined || others.length > 0 || (argument.op !== '.' && argument.op !== '.?'))
    throw failAt(context, ast, 'has() takes exactly one field selection, as in has(self.field)');
  const left = compileAst(argument.args[0], context);
  const name = argument.args[1];
  fieldType(left.type.kind === 'optional' ? left.type.value : left.type, name, argument, context);
  return {
    type: BOOL,
    run(frame) {
      frame.spend(1);
      const value = left.run(frame);
      const holder = value instanceof OptionalValue ? value.value : value;
      return holder !== undefined && findField(holder, name) !== undefined;
    },
  };
}

function fieldType(type: CelType, name: string, ast: Ast, context: Context): CelType {
  switch (type.kind) {
    case 'object': {
      const field = type.fields.get(name);
      if (field !== undefined) return field;
      const known = [...type.fields.keys()].join(', ');
      throw failAt(context, ast, `undefined field '${name}'`, `known fields are ${known || 'none'}`);
    }
    case 'map':
      return type.value;
    case 'dyn':
    case 'free':
      return DYN;
    default:
      throw failAt(context, ast, `type '${formatType(type)}' does not support field selection`);
  }
}

function indexType(type: CelType, key: CelType, ast: Ast, context: Context): CelType {
  if (type.kind === 'dyn' || type.kind === 'free') return DYN;
  if (type.kind === 'list' && fits(INT, key, new Map())) return type.element;
  if (type.kind === 'map' && fits(type.key, key, new Map())) return type.value;
  throw failAt(
    context,
    ast,
    `found no matching overload for '_[_]' applied to '(${formatType(type)}, ${formatType(key)})'`,
  );
}

function findField(value: CelValue, name: string): CelValue | undefined {
  if (value instanceof ObjectValue || value instanceof MapValue) return value.find(name);
  throw new CelFailure('no such overload');
}

function findIndex(value: CelValue, index: CelValue): CelValue | undefined {
  if (value instanceof MapValue) return value.find(index);
  if (value instanceof ObjectValue && typeof index === 'string') return value.find(index);
  if (!(value instanceof ListValue)) throw new CelFailure('no such overload');
  if (typeof index !== 'bigint') throw new CelFailure(`unsupported index: ${String(index)}`);
  return index < 0n || index >= BigInt(value.length) ? undefined : value.at(Number(index));
}
